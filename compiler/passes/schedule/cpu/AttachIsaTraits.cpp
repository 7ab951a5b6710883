// SPDX-License-Identifier: Apache-2.0
// attach-isa-traits: writes the traits of the target's instruction set on the module, where later passes ask for them.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_ATTACHISATRAITS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct AttachIsaTraits : talc::impl::AttachIsaTraitsBase<AttachIsaTraits> {
  using Base::Base;
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!traits)
      traits = getIsaTraits(module, lanes);
    if (!traits)
      return signalPassFailure();
    module->setAttr(isaAttr, isaAttribute(&getContext(), *traits));
  }

  std::optional<IsaTraits> traits;  // of the target; none: those that the option says
};

}  // namespace

std::unique_ptr<Pass> talc::createAttachIsaTraits(const IsaTraits &traits) {
  auto pass = std::make_unique<AttachIsaTraits>();
  pass->traits = traits;
  return pass;
}
