// SPDX-License-Identifier: Apache-2.0
// Addresses of the panels that the tiles of a single token's attention prefetch.
//
//   keys of a block                values                         keys of the next block, or head
//   0 1 2  3 4 5  6 7 8            0  1  2  3  4  5  6  7  8      0 1 2
//   |----> 3 4 5                   |-------> 3
//                 |--> 0 1 2 of the values     |-------> 0 of the next keys
//
// The KV cache comes from memory, and a token has few operations for each key: without prefetches memory would be idle
// during the softmax, and whenever a panel ends, since hardware prefetchers stop at a page.
#include "compiler/passes/schedule/cpu/attention/KvPrefetch.h"

#include "compiler/passes/schedule/attention/KvLayout.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

bool KvPrefetch::appliesTo(const AttentionLoops &loops) {
  const kernel::KvLayout &layout = loops.keys.layout;
  return loops.schedule.fetch && layout.sinkTokens == 0 && layout.keys == layout.values &&
         !isa<StoredType>(layout.keys);
}

KvPrefetch::KvPrefetch(AttentionLoops &loops, Value head)
    : loops(loops), e(loops.e), layout(loops.keys.layout), head(head) {
  KvBlock slot = loops.keys.ownSlot();
  all = {loops.keys.panels.keys->flat(slot.keys), loops.keys.panels.values->flat(slot.values)};
  first = e.div(loops.keys.firstVisible(e.index(0)), layout.tokens);
  last = e.div(e.sub(loops.keys.visibleEnd(e.index(0)), e.index(1)), layout.tokens);
}

void KvPrefetch::enterBlock(Value firstKey, Value from, Value to) {
  firstPanel = e.div(firstKey, layout.tokens);
  begin = from;
  end = to;
}

KvPrefetch::Address KvPrefetch::panelAddress(const KvAccess &part, Value memory, Value head, Value panel) {
  Value index = panelIndex(e, layout, panel);
  return {memory, e.mul(e.add(e.mul(index, layout.heads), head), part.panelElements())};
}

KvPrefetch::Address KvPrefetch::choose(Value condition, const Address &yes, const Address &no) {
  return {e.select(condition, yes.memory, no.memory), e.select(condition, yes.element, no.element)};
}

// The values come after the last keys.
KvPrefetch::Address KvPrefetch::panelAfterKeys(Value panel) {
  Value value = e.min(e.add(begin, e.sub(e.max(panel, end), end)), e.sub(end, e.index(1)));
  return choose(e.less(panel, end), keyPanelAddress(head, e.add(firstPanel, panel)),
                valuePanelAddress(e.add(firstPanel, value)));
}

// After the last values come the keys of the next block or, after all blocks, those of the next head, which sees the
// same positions; after the last head it is what was read already.
KvPrefetch::Address KvPrefetch::panelAfterValues(Value panel) {
  Value at = e.add(firstPanel, panel), end = e.add(last, e.index(1));
  Value next = e.select(e.less(at, end), at, e.min(e.add(first, e.sub(e.max(at, end), end)), last));
  Value nextHead = e.min(e.add(head, e.index(1)), e.index(layout.heads - 1));
  return choose(e.less(panel, end), valuePanelAddress(at),
                keyPanelAddress(e.select(e.less(at, end), head, nextHead), next));
}

void KvPrefetch::prefetch(const Address &address, Value first, int64_t elements) {
  auto type = cast<MemRefType>(address.memory.getType());
  int64_t lineElements = cacheLineBytes / elementFormat(type).byteSize(1);
  for (int64_t i = 0; i < elements; i += lineElements)
    e.prefetch(address.memory, {e.add(e.add(address.element, first), i)}, /*level=*/1);
}

AttentionTiles::Prefetch KvPrefetch::besideScores(int64_t panels) {
  int64_t featureElements = loops.keys.panels.keys->panelElements() / layout.width;
  return [this, panels, featureElements](Value panel, Value k) {
    for (int64_t i = 0; i < panels; ++i)
      prefetch(panelAfterKeys(e.add(panel, panels + i)), e.mul(k, featureElements),
               loops.tiles.keySteps() * featureElements);
  };
}

AttentionTiles::Prefetch KvPrefetch::besideValues(Value column, int64_t count) {
  int64_t keyElements = loops.keys.panels.values->panelElements() / layout.tokens;
  return [this, column, count, keyElements](Value panel, Value key) {
    Value inRow = e.div(e.mul(column, keyElements), layout.paddedWidth);
    prefetch(panelAfterValues(e.add(panel, distance())), e.add(e.mul(key, keyElements), inRow),
             llvm::divideCeil(count * keyElements, layout.paddedWidth));
  };
}

}  // namespace talc
