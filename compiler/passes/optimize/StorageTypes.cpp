// SPDX-License-Identifier: Apache-2.0
// Follows weights through calls and recipes back to the files that store them.
#include "compiler/passes/optimize/StorageTypes.h"

using namespace mlir;

namespace talc {

FailureOr<StorageTypes> StorageTypes::create(ModuleOp module, StringRef option) {
  if (option == "checkpoint")
    return StorageTypes(module, Type());
  const StorageFormat *format = formatNamed(option);
  if (!format)
    return module.emitError() << "weights cannot be '" << option << "', expected " << formatAlternatives("checkpoint");
  return StorageTypes(module, format->type(module.getContext(), *format));
}

StorageTypes::StorageTypes(ModuleOp module, Type fixed)
    : f32(Float32Type::get(module.getContext())), fixed(fixed), callSites(module), symbols(module) {}

Type StorageTypes::of(Value weight) {
  if (fixed)
    return fixed;
  Type found = find(weight);
  return found ? found : f32;
}

// Null stands for "not known yet" (a weight on a cycle of calls or recipes) and agrees with everything.
Type StorageTypes::agree(Type lhs, Type rhs) const {
  if (!lhs || !rhs || lhs == rhs)
    return lhs ? lhs : rhs;
  return f32;
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
      found = agree(found, find(source));
  } else if (auto get = weight.getDefiningOp<GetWeightOp>()) {
    if (auto symbol = symbols.lookup<WeightOp>(get.getName()))
      found = find(symbol);
  }
  return values[weight] = found;
}

Type StorageTypes::find(WeightOp weight) {
  auto [known, isNew] = weights.try_emplace(weight);
  if (!isNew)
    return known->second;
  Type element = cast<RankedTensorType>(weight.getType()).getElementType(), found;
  if (auto file = dyn_cast<FileSourceAttr>(weight.getSource()))
    found = element == f32 ? file.getElementType() : element;
  else if (element != f32 || !weight.getOf())
    found = element;
  else
    for (auto source : weight.getOf()->getAsRange<FlatSymbolRefAttr>())
      if (auto symbol = symbols.lookup<WeightOp>(source.getAttr()))
        found = agree(found, find(symbol));
  return weights[weight] = found;
}

}  // namespace talc
