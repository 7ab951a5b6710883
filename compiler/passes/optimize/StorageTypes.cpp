// SPDX-License-Identifier: Apache-2.0
// Follows weights through calls and recipes back to the files that store them.
#include "compiler/passes/optimize/StorageTypes.h"

#include "dialects/talc/LookupSource.h"

using namespace mlir;

namespace talc {

static RankedTensorType tensorType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static RankedTensorType tensorType(WeightOp weight) {
  return cast<RankedTensorType>(weight.getType());
}

Type fileType(WeightOp weight) {
  if (auto file = dyn_cast<FileSourceAttr>(weight.getSource()))
    return file.getElementType();
  if (auto quantized = dyn_cast<QuantizedSourceAttr>(weight.getSource()))
    return quantized.getElementType();
  if (auto lookup = dyn_cast<LookupSourceAttr>(weight.getSource()))
    return lookup.getElementType();
  return Float32Type::get(weight.getContext());
}

// The format of a weight in the program that no recipe makes of others; null: a recipe does.
static Type chooseFormat(WeightOp weight, const FormatChoice &choice) {
  MLIRContext *context = weight.getContext();
  Type element = tensorType(weight).getElementType();
  bool hasRecipe = element.isF32() && weight.getOf(), isFixed = choice.usual && choice.rules.empty();
  FormatRef chosen = isFixed ? choice.usual : hasRecipe ? nullptr : choice.of(chosenName(weight.getSymName()));
  if (chosen)
    return chosen->type(context, *chosen);
  if (hasRecipe)
    return {};
  auto existing = element.isF32() ? weight->getAttrOfType<TypeAttr>(formatAttr) : TypeAttr::get(element);
  return existing ? existing.getValue() : fileType(weight);
}

void assignFormats(ModuleOp module, const FormatChoice &choice) {
  auto write = [](Operation *op, Type format) { op->setAttr(formatAttr, TypeAttr::get(format)); };
  SmallVector<WeightOp> recipes;
  for (auto weight : module.getOps<WeightOp>()) {
    if (tensorType(weight).getRank() != 2)
      continue;
    if (Type format = chooseFormat(weight, choice)) {
      write(weight, format);
    } else {
      weight->removeAttr(formatAttr);
      recipes.push_back(weight);
    }
  }
  StorageTypes storage(module, /*keepsFileBlocks=*/choice.keepsFileFormats());
  Type other = Float32Type::get(module.getContext());
  if (choice.usual)
    other = choice.usual->type(module.getContext(), *choice.usual);
  SmallVector<std::pair<Operation *, Type>> resolved;
  for (WeightOp weight : recipes)
    resolved.emplace_back(weight, storage.findFormat(weight));
  module.walk([&](DeriveOp derive) {
    if (tensorType(derive.getResult()).getRank() == 2)
      resolved.emplace_back(derive,
                            choice.usual && choice.rules.empty() ? other : storage.findFormat(derive.getResult()));
  });
  for (auto [op, format] : resolved)
    write(op, format ? format : other);
}

StorageTypes::StorageTypes(ModuleOp module, bool keepsFileBlocks)
    : f32(Float32Type::get(module.getContext())), keepsFileBlocks(keepsFileBlocks), callSites(module), symbols(module) {
}

Type StorageTypes::getType(Value weight) {
  Type found = findFormat(weight);
  if (!found)
    found = f32;
  RankedTensorType type = tensorType(weight);
  if (type.getRank() < 2)
    return found;
  const StorageFormat &format = formatForRows(*getStorageFormat(found), type.getDimSize(1));
  return format.type(weight.getContext(), format);
}

// Null stands for "not known yet" (a weight on a cycle of calls or recipes) and agrees with everything.
Type StorageTypes::agree(Type lhs, Type rhs) const {
  if (!lhs || !rhs || lhs == rhs)
    return lhs ? lhs : rhs;
  return f32;
}

// Blocks of a file survive recipes that move whole rows. After other recipes the values are stored as f32, because
// quantizing them once more would add a second rounding error.
Type StorageTypes::throughRecipe(Attribute recipe, Type source) const {
  if (keepsFileBlocks && isa<RelativeKeysRecipeAttr>(recipe))
    return f32;
  bool hasBlocks = source && getStorageFormat(source)->blockValues > 1;
  return keepsFileBlocks && hasBlocks && isa<TransposeRecipeAttr, PlusRecipeAttr>(recipe) ? f32 : source;
}

Type StorageTypes::findFormat(Value weight) {
  auto [known, isNew] = values.try_emplace(weight);
  if (!isNew)
    return known->second;
  Type element = tensorType(weight).getElementType(), found;
  if (auto argument = dyn_cast<BlockArgument>(weight)) {
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      for (func::CallOp call : callSites.callsTo(function))
        found = agree(found, findFormat(call.getOperand(argument.getArgNumber())));
  } else if (auto derive = weight.getDefiningOp<DeriveOp>()) {
    if (auto format = derive->getAttrOfType<TypeAttr>(formatAttr))
      found = format.getValue();
    else if (element == f32)
      for (Value source : derive.getSources())
        found = agree(found, throughRecipe(derive.getRecipe(), findFormat(source)));
  } else if (auto get = weight.getDefiningOp<GetWeightOp>()) {
    if (auto symbol = symbols.lookup<WeightOp>(get.getName()))
      found = findFormat(symbol);
  }
  if (!found && element != f32)
    found = element;
  return values[weight] = found;
}

Type StorageTypes::findFormat(WeightOp weight) {
  auto [known, isNew] = weights.try_emplace(weight);
  if (!isNew)
    return known->second;
  Type element = tensorType(weight).getElementType(), found;
  if (auto format = weight->getAttrOfType<TypeAttr>(formatAttr))
    found = format.getValue();
  else if (element != f32)
    found = element;
  else if (!weight.getOf())
    found = fileType(weight);
  else
    for (auto source : weight.getOf()->getAsRange<FlatSymbolRefAttr>())
      if (auto symbol = symbols.lookup<WeightOp>(source.getAttr()))
        found = agree(found, throughRecipe(weight.getSource(), findFormat(symbol)));
  return weights[weight] = found;
}

}  // namespace talc
