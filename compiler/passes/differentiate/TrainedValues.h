// SPDX-License-Identifier: Apache-2.0
// Finds out which weights are trained, and which activations depend on them.
#pragma once

#include "compiler/passes/optimize/CallSites.h"

#include "llvm/ADT/DenseSet.h"

namespace talc {

class TrainedValues {
public:
  TrainedValues(mlir::ModuleOp module, const CallSites &callSites);

  // Whether training changes a weight: its values, in some order, are those of a checkpoint. Tables by formulas stay.
  bool isTrained(mlir::Value weight) const { return weights.contains(weight); }
  // Whether activations depend on a trained weight.
  bool isActive(mlir::Value activations) const { return active.contains(activations); }

private:
  bool isParameter(WeightOp weight);
  void findWeights(mlir::func::FuncOp function);
  void findActive(mlir::func::FuncOp function);
  // The operands of all calls of the function for one of its arguments.
  llvm::SmallVector<mlir::Value> operandsFor(mlir::BlockArgument argument) const;

  const CallSites &callSites;
  mlir::SymbolTable symbols;
  llvm::DenseSet<mlir::Value> weights, active;
};

}  // namespace talc
