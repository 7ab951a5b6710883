// SPDX-License-Identifier: Apache-2.0
// A KV cache has two runs, its keys and its values. With sink tokens beside a ring, each of them is preceded by a run
// of these. A compressive memory has one run, and so has the state of a recurrence.
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/TalcDialect.h"

using namespace mlir;

namespace talc {

using artifact::KvRunKind;

llvm::Expected<std::vector<artifact::KvRun>> makeKvCacheSection(ModuleOp module) {
  std::vector<artifact::KvRun> runs;
  auto states = llvm::to_vector(module.getOps<KvCacheOp>());
  bool hasSource = llvm::any_of(
      states, [](KvCacheOp state) { return cast<KvCacheType>(state.getType()).getRole() == KvCacheRole::source; });
  for (KvCacheOp state : states) {
    auto type = cast<KvCacheType>(state.getType());
    auto offset = state->getAttrOfType<IntegerAttr>(offsetAttr);
    if (!offset || !isa_and_nonnull<kernel::KvPanelsAttr, kernel::MatricesAttr, kernel::ColumnsAttr>(type.getLayout()))
      return internalError("the KV cache '{}' has no offset in memory", state.getSymName().str());
    auto begin = static_cast<uint64_t>(offset.getInt()), all = static_cast<uint64_t>(type.getSlotBytes());
    if (isa<kernel::MatricesAttr>(type.getLayout())) {
      runs.push_back({begin, all, static_cast<uint32_t>(KvRunKind::Memory), 0});
      continue;
    }
    if (isa<kernel::ColumnsAttr>(type.getLayout())) {
      runs.push_back({begin, all, static_cast<uint32_t>(KvRunKind::Recurrence), 0});
      continue;
    }
    kernel::KvLayout layout(type);
    auto keys = static_cast<uint64_t>(layout.keyBytes());
    auto kind = static_cast<uint32_t>(hasSource && type.getRole() != KvCacheRole::sequence ? KvRunKind::Source
                                                                                           : KvRunKind::Sequence);
    auto add = [&](uint64_t first, uint64_t bytes) {
      uint64_t ofPanel = bytes / layout.panels;
      auto tokens = [&](int64_t panels) { return static_cast<uint32_t>(panels * layout.tokens); };
      if (layout.sinkPanels > 0)
        runs.push_back({first, ofPanel, kind, tokens(layout.sinkPanels)});
      runs.push_back({first + layout.sinkPanels * ofPanel, ofPanel, kind, tokens(layout.ringPanels)});
    };
    add(begin, keys);
    add(begin + keys, all - keys);
  }
  return runs;
}

}  // namespace talc
