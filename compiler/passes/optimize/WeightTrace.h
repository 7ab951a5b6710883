// SPDX-License-Identifier: Apache-2.0
// Follows matrices of layer functions, which take them as arguments, to the weights of their calls.
#pragma once

#include "compiler/passes/optimize/CallSites.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/SetVector.h"

namespace talc {

class WeightTrace {
public:
  WeightTrace(mlir::ModuleOp module, const CallSites &callSites) : callSites(callSites), symbols(module) {}

  // The weights that a value stands for, one for each call path to its function; none if a recipe makes the value.
  void find(mlir::Value value, llvm::SmallVectorImpl<WeightOp> &found);

  // The weights without recipe that a weight depends on.
  void addSources(WeightOp weight, llvm::SetVector<mlir::Operation *> &sources);

private:
  const CallSites &callSites;
  mlir::SymbolTable symbols;
};

}  // namespace talc
