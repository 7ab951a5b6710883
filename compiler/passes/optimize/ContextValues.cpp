// SPDX-License-Identifier: Apache-2.0
// Follows the results of talc.kv_read through a function, in one walk.
#include "compiler/passes/optimize/ContextValues.h"
#include "dialects/talc/TalcDialect.h"

using namespace mlir;

namespace talc {

llvm::DenseSet<Value> findContextValues(FunctionOpInterface function) {
  llvm::DenseSet<Value> context;
  auto isContext = [&](Value value) { return context.contains(value); };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto attention = dyn_cast<AttentionOp>(op);
    bool keepsContext = attention ? isContext(attention.getQueries()) : llvm::any_of(op->getOperands(), isContext);
    if (isa<KvReadOp>(op) || keepsContext)
      context.insert(op->result_begin(), op->result_end());
  });
  return context;
}

}  // namespace talc
