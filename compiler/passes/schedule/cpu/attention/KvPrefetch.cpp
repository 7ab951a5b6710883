// SPDX-License-Identifier: Apache-2.0
// What the tiles of a single row's attention fetch while they work.
//
//   keys of a block                values                         keys of the next block, or head
//   0 1 2  3 4 5  6 7 8            0  1  2  3  4  5  6  7  8      0 1 2
//   |----> 3 4 5                   |-------> 3
//                 |--> 0 1 2 of the values     |-------> 0 of the next keys
//
// A step's states come from memory, and a row has few operations for each key: without fetches memory would rest while
// scores are weighed, and whenever a panel ends, since the processor's own prefetching ends at a page.
#include "compiler/passes/schedule/cpu/attention/KvPrefetch.h"

#include "compiler/passes/schedule/attention/KvLayout.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

bool KvPrefetch::suits(const AttentionLoops &loops) {
  const kernel::KvLayout &layout = loops.keys.layout;
  return loops.schedule.fetch && layout.sinkTokens == 0 && layout.keys == layout.values &&
         !isa<StoredType>(layout.keys);
}

KvPrefetch::KvPrefetch(AttentionLoops &loops, Value head)
    : loops(loops), e(loops.e), layout(loops.keys.layout), head(head) {
  KvBlock own = loops.keys.own();
  all = {loops.keys.panels.keys->flat(own.keys), loops.keys.panels.values->flat(own.values)};
  first = e.div(loops.keys.firstSeen(e.index(0)), layout.tokens);
  last = e.div(e.sub(loops.keys.endSeen(e.index(0)), e.index(1)), layout.tokens);
}

void KvPrefetch::enterBlock(Value firstKey, Value from, Value to) {
  firstPanel = e.div(firstKey, layout.tokens);
  begin = from;
  end = to;
}

KvPrefetch::Place KvPrefetch::placeOf(const KvAccess &part, Value memory, Value head, Value panel) {
  Value place = panelIndex(e, layout, panel);
  return {memory, e.mul(e.add(e.mul(place, layout.heads), head), part.panelElements())};
}

KvPrefetch::Place KvPrefetch::choose(Value condition, const Place &yes, const Place &no) {
  return {e.select(condition, yes.memory, no.memory), e.select(condition, yes.element, no.element)};
}

// Behind the last keys come the values.
KvPrefetch::Place KvPrefetch::behindKeys(Value panel) {
  Value value = e.min(e.add(begin, e.sub(e.max(panel, end), end)), e.sub(end, e.index(1)));
  return choose(e.less(panel, end), keysAt(head, e.add(firstPanel, panel)), valuesAt(e.add(firstPanel, value)));
}

// Behind the last values come the keys of the next block or, behind all, those of the next head, which sees the same
// ones; behind the last head it is what was read already.
KvPrefetch::Place KvPrefetch::behindValues(Value panel) {
  Value at = e.add(firstPanel, panel), behind = e.add(last, e.index(1));
  Value next = e.select(e.less(at, behind), at, e.min(e.add(first, e.sub(e.max(at, behind), behind)), last));
  Value nextHead = e.min(e.add(head, e.index(1)), e.index(layout.heads - 1));
  return choose(e.less(panel, end), valuesAt(at), keysAt(e.select(e.less(at, behind), head, nextHead), next));
}

void KvPrefetch::fetch(const Place &place, Value first, int64_t elements) {
  auto type = cast<MemRefType>(place.memory.getType());
  int64_t ofLine = cacheLineBytes / elementFormat(type).byteSize(1);
  for (int64_t i = 0; i < elements; i += ofLine)
    e.prefetch(place.memory, {e.add(e.add(place.element, first), i)}, /*level=*/1);
}

AttentionTiles::Fetch KvPrefetch::besideKeys(int64_t panels) {
  int64_t ofFeature = loops.keys.panels.keys->panelElements() / layout.width;
  return [this, panels, ofFeature](Value panel, Value k) {
    for (int64_t i = 0; i < panels; ++i)
      fetch(behindKeys(e.add(panel, panels + i)), e.mul(k, ofFeature), loops.tiles.keySteps() * ofFeature);
  };
}

AttentionTiles::Fetch KvPrefetch::besideValues(Value column, int64_t count) {
  int64_t ofKey = loops.keys.panels.values->panelElements() / layout.tokens;
  return [this, column, count, ofKey](Value panel, Value key) {
    Value inRow = e.div(e.mul(column, ofKey), layout.paddedWidth);
    fetch(behindValues(e.add(panel, distance())), e.add(e.mul(key, ofKey), inRow),
          llvm::divideCeil(count * ofKey, layout.paddedWidth));
  };
}

}  // namespace talc
