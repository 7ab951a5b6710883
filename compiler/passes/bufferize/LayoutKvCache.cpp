// SPDX-License-Identifier: Apache-2.0
// layout-kv-cache: the target's layout becomes part of the type of every state.
//
//   !talc.kv_cache<2 x 64 x 1024>           ->   !talc.kv_cache<2 x 64 x 1024 in #kernel.kv_panels<16 x f32>>
//                                            ... in #kernel.kv_panels<16 x f16, f32>>   if the module's talc.key_format
//                                            is f16, and it has no talc.value_format
//   !talc.kv_cache<2 x 64 x 1024, memory>   ->   !talc.kv_cache<2 x 64 x 1024, memory in #kernel.matrices>
//
// A ring becomes as large as whole blocks of keys, of which none crosses its end.
//
// In all types of the program at once, so that symbols, handles and the arguments of blocks agree.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/formats/KvFormats.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_LAYOUTKVCACHE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::KvCacheType;

namespace {

// What lives for a step is small, and a memory is a sum.
bool isSinkRange(KvCacheType state) {
  return state.getRole() == talc::KvCacheRole::sequence || state.getRole() == talc::KvCacheRole::source;
}

struct LayoutKvCache : talc::impl::LayoutKvCacheBase<LayoutKvCache> {
  using Base::Base;

  void runOnOperation() override {
    MLIRContext *context = &getContext();
    auto error = [&] { return getOperation().emitError(); };
    int64_t count = tokens, ring = this->ring;
    Type f32 = Float32Type::get(context);
    auto panels = talc::kernel::KvPanelsAttr::getChecked(error, context, count, f32, f32);
    auto matrices = talc::kernel::MatricesAttr::get(context);
    if (!panels)
      return signalPassFailure();
    if (ring < 1 || ring % count != 0) {
      getOperation().emitError() << "rings of blocks of " << ring << " tokens, expected a multiple of " << count;
      return signalPassFailure();
    }
    std::string problem;
    auto formats = talc::getKvFormats(getOperation(), problem);
    if (!formats)
      getOperation().emitError() << problem;
    if (!formats || failed(checkWidths(formats->keys)) || failed(checkWidths(formats->values)))
      return signalPassFailure();
    auto sinkPanels = talc::kernel::KvPanelsAttr::get(context, count, formats->keys->type(context, *formats->keys),
                                                      formats->values->type(context, *formats->values));
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](KvCacheType state) -> std::optional<Type> {
      if (state.getLayout())
        return state;
      talc::KvLayoutInterface layout = isSinkRange(state) ? sinkPanels : panels;
      if (state.getRole() == talc::KvCacheRole::memory)
        layout = matrices;
      int64_t capacity = state.isRing() ? llvm::alignTo(state.getCapacity(), ring) : state.getCapacity();
      return KvCacheType::get(context, state.getHeads(), state.getWidth(), capacity, state.getRole(), state.getWindow(),
                              state.getSinkTokens(), layout);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    talc::PassRemarks("bufferize", "layout-kv-cache").did(getOperation(), [&] {
      auto states = getOperation().getOps<talc::KvCacheOp>();
      return llvm::formatv("{0} states keep keys in {2} and values in {3}, in panels of {1} tokens",
                           std::distance(states.begin(), states.end()), count, formats->keys->name,
                           formats->values->name);
    });
  }

  // Blocks run along the features of a head, of which none is left over.
  LogicalResult checkWidths(talc::FormatRef format) {
    for (auto state : getOperation().getOps<talc::KvCacheOp>()) {
      auto type = cast<KvCacheType>(state.getType());
      if (isSinkRange(type) && !type.getLayout() && type.getWidth() % format->blockValues != 0)
        return state.emitOpError() << "has heads of width " << type.getWidth() << ", which are no whole blocks of "
                                   << format->name << " (" << format->blockValues
                                   << " values); --state=f32, f16 or bf16 takes them";
    }
    return success();
  }
};

}  // namespace
