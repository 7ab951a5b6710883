// SPDX-License-Identifier: Apache-2.0
// Sets the attribute.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/Workers.h"

namespace talc {
#define GEN_PASS_DEF_CLAIMTASKS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

namespace {

struct ClaimTasks : talc::impl::ClaimTasksBase<ClaimTasks> {
  void runOnOperation() override {
    getOperation()->setAttr(talc::kernel::claimsAttr, mlir::UnitAttr::get(&getContext()));
  }
};

}  // namespace
