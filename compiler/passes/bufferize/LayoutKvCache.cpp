// SPDX-License-Identifier: Apache-2.0
// layout-kv-cache: adds the target's layout to the type of every KV cache.
//
//   !talc.kv_cache<2 x 64 x 1024>           ->   !talc.kv_cache<2 x 64 x 1024 in #kernel.kv_panels<16 x f32>>
//                                            ... in #kernel.kv_panels<16 x f16, f32>>   if keys are f16 in the
//                                            module's talc.kv_formats
//   !talc.kv_cache<2 x 64 x 1024, memory>   ->   !talc.kv_cache<2 x 64 x 1024, memory in #kernel.matrices>
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

// Whether talc.kv_formats apply. Caches of a step are small, and a compressive memory is a sum, which needs f32.
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
      int64_t capacity = cache.isRing() ? llvm::alignTo(cache.getCapacity(), ring) : cache.getCapacity();
      return KvCacheType::get(context, cache.getHeads(), cache.getWidth(), capacity, cache.getRole(), cache.getWindow(),
                              cache.getSinkTokens(), layout);
    });
    replacer.recursivelyReplaceElementsIn(getOperation(), /*replaceAttrs=*/true, /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    talc::PassRemarks("bufferize", "layout-kv-cache").did(getOperation(), [&] {
      auto caches = getOperation().getOps<talc::KvCacheOp>();
      return llvm::formatv("{0} KV caches store keys in {2} and values in {3}, in panels of {1} tokens",
                           std::distance(caches.begin(), caches.end()), count, formats->keys->name,
                           formats->values->name);
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
