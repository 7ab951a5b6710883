// SPDX-License-Identifier: Apache-2.0
// lay-out-states: the target's layout becomes part of the type of every state.
//
//   !talc.state<2 x 64 x 1024>   ->   !talc.state<2 x 64 x 1024 in #kernel.panels<16 x f32>>
//
// In all types of the program at once, so that symbols, handles and the arguments of blocks agree.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_LAYOUTSTATES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::StateType;

namespace {

struct LayOutStates : talc::impl::LayOutStatesBase<LayOutStates> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto error = [&] { return getOperation().emitError(); };
    int64_t count = tokens;
    Type element = Float32Type::get(context);
    auto layout = talc::kernel::PanelsAttr::getChecked(error, context, count, element);
    if (!layout)
      return signalPassFailure();
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](StateType state) -> std::optional<Type> {
      if (state.getLayout())
        return state;
      return StateType::get(context, state.getHeads(), state.getWidth(), state.getCapacity(), state.getRole(), layout);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    talc::PassRemarks("bufferize", "lay-out-states").did(getOperation(), [&] {
      auto states = getOperation().getOps<talc::StateOp>();
      return llvm::formatv("{0} states keep keys and values in panels of {1} tokens",
                           std::distance(states.begin(), states.end()), count);
    });
  }
};

}  // namespace
