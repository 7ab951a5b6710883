// SPDX-License-Identifier: Apache-2.0
// set-dynamic-schedule: sets the attribute on the module.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelAttributeNames.h"

namespace talc {
#define GEN_PASS_DEF_SETDYNAMICSCHEDULE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

namespace {

struct SetDynamicSchedule : talc::impl::SetDynamicScheduleBase<SetDynamicSchedule> {
  void runOnOperation() override {
    getOperation()->setAttr(talc::kernel::dynamicScheduleAttr, mlir::UnitAttr::get(&getContext()));
  }
};

}  // namespace
