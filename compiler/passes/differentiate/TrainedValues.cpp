// SPDX-License-Identifier: Apache-2.0
// Follows weights and activations from callers to callees: functions come after those that call them.
#include "compiler/passes/differentiate/TrainedValues.h"

using namespace mlir;

namespace talc {

TrainedValues::TrainedValues(ModuleOp module, const CallSites &callSites) : callSites(callSites), symbols(module) {
  for (func::FuncOp function : llvm::reverse(callSites.calleesFirst())) {
    findWeights(function);
    findActive(function);
  }
}

llvm::SmallVector<Value> TrainedValues::operandsFor(BlockArgument argument) const {
  llvm::SmallVector<Value> operands;
  auto function = cast<func::FuncOp>(argument.getOwner()->getParentOp());
  for (func::CallOp call : callSites.callsTo(function))
    operands.push_back(call.getOperand(argument.getArgNumber()));
  return operands;
}

static bool isWeight(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32();
}

// Values of a checkpoint, or what stands for them (--random-weights), or such in another order. Tables that follow from
// formulas are not trained.
bool TrainedValues::isParameter(WeightOp weight) {
  if (!weight.getOf() || weight.getOf()->empty())
    return isa<FileSourceAttr, RandomSourceAttr, ValuesSourceAttr, FillSourceAttr>(weight.getSource());
  bool isRearranged = isa<TransposeRecipeAttr, ConcatRecipeAttr, RowsRecipeAttr, HalfSplitRecipeAttr,
                          InterleaveRecipeAttr, PlusRecipeAttr>(weight.getSource());
  return isRearranged && llvm::all_of(weight.getOf()->getAsRange<FlatSymbolRefAttr>(), [&](FlatSymbolRefAttr source) {
           auto other = symbols.lookup<WeightOp>(source.getValue());
           return other && isParameter(other);
         });
}

void TrainedValues::findWeights(func::FuncOp function) {
  function.walk([&](GetWeightOp get) {
    auto weight = symbols.lookup<WeightOp>(get.getName());
    if (weight && isWeight(get.getResult()) && isParameter(weight))
      weights.insert(get.getResult());
  });
  for (BlockArgument argument : function.getArguments()) {
    auto operands = operandsFor(argument);
    if (isWeight(argument) && !operands.empty() &&
        llvm::all_of(operands, [&](Value operand) { return isTrained(operand); }))
      weights.insert(argument);
  }
}

void TrainedValues::findActive(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (llvm::any_of(operandsFor(argument), [&](Value operand) { return isActive(operand); }))
      active.insert(argument);
  for (Operation &op : function.getBody().front())
    if (llvm::any_of(op.getOperands(), [&](Value operand) { return isActive(operand) || isTrained(operand); }))
      for (Value result : op.getResults())
        active.insert(result);
}

}  // namespace talc
