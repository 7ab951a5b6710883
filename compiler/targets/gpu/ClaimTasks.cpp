// SPDX-License-Identifier: Apache-2.0
// Sets the attribute.
#include "compiler/targets/gpu/ClaimTasks.h"

#include "dialects/kernel/Workers.h"

#include "mlir/IR/BuiltinOps.h"

using namespace mlir;

namespace talc::gpu {

namespace {

class ClaimTasks : public PassWrapper<ClaimTasks, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ClaimTasks)

  llvm::StringRef getArgument() const override { return "claim-tasks"; }
  void runOnOperation() override { getOperation()->setAttr(kernel::claimsAttr, UnitAttr::get(&getContext())); }
};

}  // namespace

std::unique_ptr<Pass> createClaimTasks() {
  return std::make_unique<ClaimTasks>();
}

}  // namespace talc::gpu
