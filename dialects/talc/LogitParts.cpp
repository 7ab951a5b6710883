// SPDX-License-Identifier: Apache-2.0
// Parts follow the results.
#include "dialects/talc/LogitParts.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;

namespace talc {

bool isLogitPart(Attribute kind) {
  auto name = dyn_cast_or_null<StringAttr>(kind);
  return name && (name.getValue() == headOutput || name.getValue() == tailOutput);
}

unsigned countResults(func::FuncOp entry) {
  auto kinds = entry->getParentOfType<ModuleOp>()->getAttrOfType<ArrayAttr>(outputsAttr);
  unsigned count = entry.getNumResults();
  while (kinds && count > 0 && count <= kinds.size() && isLogitPart(kinds[count - 1]))
    --count;
  return count;
}

void dropLogitParts(func::FuncOp entry) {
  unsigned count = countResults(entry), parts = entry.getNumResults() - count;
  if (parts == 0)
    return;
  Operation *end = entry.front().getTerminator();
  end->eraseOperands(count, parts);
  entry.setFunctionType(FunctionType::get(entry.getContext(), entry.getArgumentTypes(), end->getOperandTypes()));
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(entry.front())))
    if (isOpTriviallyDead(&op))
      op.erase();
}

}  // namespace talc
