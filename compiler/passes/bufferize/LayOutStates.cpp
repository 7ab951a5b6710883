// SPDX-License-Identifier: Apache-2.0
// lay-out-states: the target's layout becomes part of the type of every state.
//
//   !talc.state<2 x 64 x 1024>           ->   !talc.state<2 x 64 x 1024 in #kernel.panels<16 x f32>>
//   !talc.state<2 x 64 x 1024, memory>   ->   !talc.state<2 x 64 x 1024, memory in #kernel.matrices>
//
// A ring becomes as large as whole blocks of keys, of which none crosses its end.
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
    int64_t count = tokens, ring = this->ring;
    Type element = Float32Type::get(context);
    auto panels = talc::kernel::PanelsAttr::getChecked(error, context, count, element);
    auto matrices = talc::kernel::MatricesAttr::get(context);
    if (!panels)
      return signalPassFailure();
    if (ring < 1 || ring % count != 0) {
      getOperation().emitError() << "rings of blocks of " << ring << " tokens, expected a multiple of " << count;
      return signalPassFailure();
    }
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](StateType state) -> std::optional<Type> {
      if (state.getLayout())
        return state;
      talc::StateLayoutInterface layout = panels;
      if (state.getRole() == talc::StateRole::memory)
        layout = matrices;
      int64_t capacity = state.isRing() ? llvm::alignTo(state.getCapacity(), ring) : state.getCapacity();
      return StateType::get(context, state.getHeads(), state.getWidth(), capacity, state.getRole(), state.getWindow(),
                            state.getKept(), layout);
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
