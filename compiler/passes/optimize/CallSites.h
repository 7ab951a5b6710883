// SPDX-License-Identifier: Apache-2.0
// The calls of every function of a module, edits of function arguments together with their calls, and the weights that
// arguments stand for.
#pragma once

#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace talc {

// The functions of a module and the direct calls between them, read once. Adding arguments keeps it valid; adding or
// removing functions or calls does not.
class CallSites {
public:
  explicit CallSites(mlir::ModuleOp module);

  // The calls of `function`, in program order.
  llvm::ArrayRef<mlir::func::CallOp> callsTo(mlir::func::FuncOp function) const;

  // All functions with a body, each one after the functions that it calls (a recursion is cut at some call).
  llvm::ArrayRef<mlir::func::FuncOp> calleesFirst() const { return order; }

private:
  llvm::MapVector<mlir::Operation *, llvm::SmallVector<mlir::func::CallOp>> calls;
  llvm::SmallVector<mlir::func::FuncOp> order;
};

// Appends an argument to `function` and to each of its calls the operand that `makeOperand` gives for that call.
mlir::Value addArgument(const CallSites &callSites, mlir::func::FuncOp function, mlir::Type type, mlir::Location loc,
                        llvm::function_ref<mlir::Value(mlir::func::CallOp)> makeOperand);

// Removes the arguments of `function` that its body does not use, and their operands at every call.
void removeUnusedArguments(const CallSites &callSites, mlir::func::FuncOp function);

// Follows values through function arguments to weights, and weights to those that they are made of. (WeightTrace.cpp)
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
