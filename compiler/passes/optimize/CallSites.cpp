// SPDX-License-Identifier: Apache-2.0
// Reads the call graph of a module and changes the arguments of its functions.
#include "compiler/passes/optimize/CallSites.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;

namespace talc {

namespace {

// Visits functions depth first along their calls.
struct PostOrder {
  const llvm::DenseMap<Operation *, SmallVector<func::FuncOp>> &callees;
  SmallVector<func::FuncOp> &order;
  llvm::SmallPtrSet<Operation *, 16> seen;

  void visit(func::FuncOp function) {
    if (!seen.insert(function).second)
      return;
    if (auto it = callees.find(function); it != callees.end())
      for (func::FuncOp callee : it->second)
        visit(callee);
    order.push_back(function);
  }
};

}  // namespace

CallSites::CallSites(ModuleOp module) {
  SymbolTable symbols(module);
  llvm::DenseMap<Operation *, SmallVector<func::FuncOp>> callees;
  for (auto caller : module.getOps<func::FuncOp>())
    caller.walk([&](func::CallOp call) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee)
        return;
      auto &sites = calls[callee];
      if (sites.empty() || sites.back()->getParentOfType<func::FuncOp>() != caller)
        callees[caller].push_back(callee);
      sites.push_back(call);
    });
  PostOrder postOrder{callees, order, {}};
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isExternal())
      postOrder.visit(function);
}

ArrayRef<func::CallOp> CallSites::callsTo(func::FuncOp function) const {
  auto it = calls.find(function);
  return it == calls.end() ? ArrayRef<func::CallOp>() : ArrayRef<func::CallOp>(it->second);
}

Value addArgument(const CallSites &callSites, func::FuncOp function, Type type, Location loc,
                  llvm::function_ref<Value(func::CallOp)> makeOperand) {
  unsigned index = function.getNumArguments();
  (void)function.insertArgument(index, type, DictionaryAttr(), loc);
  for (func::CallOp call : callSites.callsTo(function))
    call.getOperandsMutable().append(makeOperand(call));
  return function.getArgument(index);
}

void removeUnusedArguments(const CallSites &callSites, func::FuncOp function) {
  llvm::BitVector unused(function.getNumArguments());
  for (BlockArgument argument : function.getArguments())
    if (argument.use_empty())
      unused.set(argument.getArgNumber());
  if (unused.none())
    return;
  (void)function.eraseArguments(unused);
  for (func::CallOp call : callSites.callsTo(function))
    call->eraseOperands(unused);
}

}  // namespace talc
