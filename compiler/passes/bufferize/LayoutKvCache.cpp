// SPDX-License-Identifier: Apache-2.0
// layout-kv-cache: adds the target's layout to the type of every KV cache.
//
//   !talc.kv_cache<2 x 64 x 1024>           ->   !talc.kv_cache<2 x 64 x 1024 in #kernel.kv_panels<16 x f32>>
//                                            ... in #kernel.kv_panels<16 x f16, f32>>   if keys are f16 in the
//                                            module's talc.kv_formats
//   !talc.kv_cache<2 x 64 x 1024, memory>   ->   !talc.kv_cache<2 x 64 x 1024, memory in #kernel.matrices>
//   !talc.kv_cache<2 x 64 x 16, recurrence> ->   !talc.kv_cache<2 x 64 x 16, recurrence in #kernel.columns<32>>
//
// The capacity of a ring is rounded up to whole key blocks, so that no block crosses its end.
//
// All types of the program change at once, so that symbols, handles and arguments of blocks agree.
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

// Columns of a state that a task takes: 8 vector registers of 128 bits, or 2 of 512.
constexpr int64_t stateColumns = 32;

// Whether talc.kv_formats apply. Caches of a step are small. A compressive memory and the state of a recurrence are
// sums over all tokens, in which rounding errors add up: they need f32.
bool usesKvFormats(KvCacheType cache) {
  return cache.getRole() == talc::KvCacheRole::sequence || cache.getRole() == talc::KvCacheRole::source;
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
    auto columns = talc::kernel::ColumnsAttr::get(context, stateColumns);
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
    auto formatPanels = talc::kernel::KvPanelsAttr::get(context, count, formats->keys->type(context, *formats->keys),
                                                        formats->values->type(context, *formats->values));
    AttrTypeReplacer replacer;
    replacer.addReplacement([&](KvCacheType cache) -> std::optional<Type> {
      if (cache.getLayout())
        return cache;
      talc::KvLayoutInterface layout = usesKvFormats(cache) ? formatPanels : panels;
      if (cache.getRole() == talc::KvCacheRole::memory)
        layout = matrices;
      if (cache.getRole() == talc::KvCacheRole::recurrence)
        layout = columns;
      int64_t capacity = cache.isRing() ? llvm::alignTo(cache.getCapacity(), ring) : cache.getCapacity();
      return KvCacheType::get(context, cache.getHeads(), cache.getWidth(), capacity, cache.getRole(), cache.getWindow(),
                              cache.getSinkTokens(), layout);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    tell(*formats);
  }

  void tell(const talc::KvFormats &formats) {
    auto caches = getOperation().getOps<talc::KvCacheOp>();
    int64_t states = llvm::count_if(caches, [](talc::KvCacheOp cache) {
      return cast<KvCacheType>(cache.getType()).getRole() == talc::KvCacheRole::recurrence;
    });
    constexpr talc::PassRemarks remarks("bufferize", "layout-kv-cache");
    remarks.did(getOperation(), [&] {
      return llvm::formatv("{0} KV caches store keys in {2} and values in {3}, in panels of {1} tokens",
                           std::distance(caches.begin(), caches.end()) - states, int64_t(tokens), formats.keys->name,
                           formats.values->name);
    });
    if (states > 0)
      remarks.did(getOperation(), [&] {
        return llvm::formatv("{0} states of recurrences are stored in f32, whatever keys and values are: each is a sum "
                             "over all tokens, in which rounding errors add up",
                             states);
      });
  }

  // Quant blocks run along the features of a head, which must be whole blocks.
  LogicalResult checkWidths(talc::FormatRef format) {
    for (auto cache : getOperation().getOps<talc::KvCacheOp>()) {
      auto type = cast<KvCacheType>(cache.getType());
      if (usesKvFormats(type) && !type.getLayout() && type.getWidth() % format->blockValues != 0)
        return cache.emitOpError() << "has heads of width " << type.getWidth()
                                   << ", which is not a multiple of the block of " << format->name << " ("
                                   << format->blockValues << " values); use --state=f32, f16 or bf16";
    }
    return success();
  }
};

}  // namespace
