// SPDX-License-Identifier: Apache-2.0
// Follows weights through calls and recipes back to the files that store them.
#include "compiler/passes/optimize/StorageTypes.h"

using namespace mlir;

namespace talc {

FailureOr<StorageTypes> StorageTypes::create(ModuleOp module, StringRef option) {
  std::string error;
  auto choice = parseFormatChoice(option, error);
  if (!choice)
    return module.emitError() << "weights cannot be '" << option << "': " << error;
  return StorageTypes(module, std::move(*choice));
}

StorageTypes::StorageTypes(ModuleOp module, FormatChoice choice)
    : context(module.getContext()), f32(Float32Type::get(context)), choice(std::move(choice)), callSites(module),
      symbols(module) {}

Type StorageTypes::typeOf(FormatRef format) const {
  return format->type(context, *format);
}

Type StorageTypes::of(Value weight) {
  Type found = isFixed() ? typeOf(choice.usual) : find(weight);
  if (!found)
    found = choice.usual ? typeOf(choice.usual) : f32;
  auto type = cast<RankedTensorType>(weight.getType());
  return type.getRank() < 2 ? found : typeOf(&formatForRows(*getStorageFormat(found), type.getDimSize(1)));
}

// Null stands for "not known yet" (a weight on a cycle of calls or recipes) and agrees with everything.
Type StorageTypes::agree(Type lhs, Type rhs) const {
  if (!lhs || !rhs || lhs == rhs)
    return lhs ? lhs : rhs;
  return f32;
}

// Blocks of a file survive as long as rows do; to make others of their values would round a second time, as would sums.
Type StorageTypes::throughRecipe(Attribute recipe, Type source) const {
  bool keepsFiles = !choice.usual && choice.bits == 0;
  if (keepsFiles && isa<RelativeKeysRecipeAttr>(recipe))
    return f32;
  bool isFiles = keepsFiles && source && getStorageFormat(source)->blockValues > 1;
  return isa<TransposeRecipeAttr, PlusRecipeAttr>(recipe) && isFiles ? f32 : source;
}

Type StorageTypes::find(Value weight) {
  auto [known, isNew] = values.try_emplace(weight);
  if (!isNew)
    return known->second;
  Type element = cast<RankedTensorType>(weight.getType()).getElementType(), found;
  if (element != f32) {
    found = element;
  } else if (auto argument = dyn_cast<BlockArgument>(weight)) {
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      for (func::CallOp call : callSites.of(function))
        found = agree(found, find(call.getOperand(argument.getArgNumber())));
  } else if (auto derive = weight.getDefiningOp<DeriveOp>()) {
    for (Value source : derive.getSources())
      found = agree(found, throughRecipe(derive.getRecipe(), find(source)));
  } else if (auto get = weight.getDefiningOp<GetWeightOp>()) {
    if (auto symbol = symbols.lookup<WeightOp>(get.getName()))
      found = find(symbol);
  }
  return values[weight] = found;
}

Type fileType(WeightOp weight) {
  if (auto file = dyn_cast<FileSourceAttr>(weight.getSource()))
    return file.getElementType();
  if (auto quantized = dyn_cast<QuantizedSourceAttr>(weight.getSource()))
    return quantized.getElementType();
  return Float32Type::get(weight.getContext());
}

// What choose-formats found, or what files have.
static Type knownType(WeightOp weight) {
  auto format = weight->getAttrOfType<TypeAttr>(formatAttr);
  return format ? format.getValue() : fileType(weight);
}

Type StorageTypes::find(WeightOp weight) {
  auto [known, isNew] = weights.try_emplace(weight);
  if (!isNew)
    return known->second;
  Type element = cast<RankedTensorType>(weight.getType()).getElementType(), found;
  FormatRef chosen = choice.of(chosenName(weight.getSymName()));
  bool isRecipe = element == f32 && weight.getOf();
  if (isRecipe)
    for (auto source : weight.getOf()->getAsRange<FlatSymbolRefAttr>()) {
      if (auto symbol = symbols.lookup<WeightOp>(source.getAttr()))
        found = agree(found, throughRecipe(weight.getSource(), find(symbol)));
    }
  else
    found = chosen ? typeOf(chosen) : element == f32 ? knownType(weight) : element;
  return weights[weight] = found;
}

}  // namespace talc
