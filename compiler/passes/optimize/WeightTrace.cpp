// SPDX-License-Identifier: Apache-2.0
// Follows matrices of layer functions to the weights of their calls.
#include "compiler/passes/optimize/CallSites.h"

using namespace mlir;

namespace talc {

void WeightTrace::find(Value value, SmallVectorImpl<WeightOp> &found) {
  if (!value)
    return;
  if (auto get = value.getDefiningOp<GetWeightOp>())
    if (auto weight = symbols.lookup<WeightOp>(get.getName()))
      found.push_back(weight);
  auto argument = dyn_cast<BlockArgument>(value);
  auto function = argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()) : func::FuncOp();
  if (function)
    for (func::CallOp call : callSites.callsTo(function))
      find(call.getOperand(argument.getArgNumber()), found);
}

void WeightTrace::addSources(WeightOp weight, llvm::SetVector<Operation *> &sources) {
  if (!weight.getOf())
    sources.insert(weight);
  else
    for (auto symbol : weight.getOf()->getAsRange<FlatSymbolRefAttr>())
      if (auto source = symbols.lookup<WeightOp>(symbol.getValue()))
        addSources(source, sources);
}

}  // namespace talc
