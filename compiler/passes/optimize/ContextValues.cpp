// SPDX-License-Identifier: Apache-2.0
// Follows the rows of talc.kv_read through a function, in one walk.
#include "compiler/passes/optimize/ContextValues.h"
#include "dialects/talc/TalcDialect.h"

using namespace mlir;

namespace talc {

llvm::DenseSet<Value> findContextValues(FunctionOpInterface function) {
  llvm::DenseSet<Value> past;
  auto isPast = [&](Value value) { return past.contains(value); };
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto attention = dyn_cast<AttentionOp>(op);
    bool keepsPast = attention ? isPast(attention.getQueries()) : llvm::any_of(op->getOperands(), isPast);
    if (isa<KvReadOp>(op) || keepsPast)
      past.insert(op->result_begin(), op->result_end());
  });
  return past;
}

}  // namespace talc
