// SPDX-License-Identifier: Apache-2.0
// Addresses of the cache lines that tiles prefetch of k-quants.
#include "compiler/passes/schedule/cpu/matmul/KQuantPrefetch.h"

#include "compiler/passes/schedule/storage/BlockReader.h"

using namespace mlir;

namespace talc {

bool KQuantPrefetch::appliesTo(const MatmulContext &c, const TileOperands &tile) {
  return tile.prefetchesOwnPanels && c.plan.tunables.prefetchLevel == 1 &&
         c.plan.slicesPerPanel(static_cast<int64_t>(tile.rows.size())) == 1;
}

KQuantPrefetch::KQuantPrefetch(const MatmulContext &c, const KQuantUnpacker &unpacker, const TileOperands &tile,
                               Value k)
    : e(c.e), format(*c.plan.shape.weightFormat), unpacker(unpacker), lanes(c.plan.shape.panelLanes),
      level(c.plan.tunables.prefetchLevel),
      blocksAhead(std::max<int64_t>(c.plan.tunables.prefetchAhead * cacheLineBytes / (lanes * format.blockBytes), 1)),
      bytes(e.bytes(c.weight)) {
  const int64_t vectorsPerPanel = lanes / e.lanes;
  for (size_t i = 0; i < tile.panels.size(); i += vectorsPerPanel)
    begins.push_back(blockAddress(e, c.weight, {tile.panels[i], e.add(tile.firstK, k), e.index(0)}).begin);
  for (Value begin : begins)
    for (auto [i, field] : llvm::enumerate(format.fields))
      if (!unpacker.isCodeField(static_cast<int64_t>(i)))
        scales.push_back(fieldLines(field, laterBlock(begin, e.index(blocksAhead)), e.index(0), 1));
}

Value KQuantPrefetch::laterBlock(Value begin, Value count) const {
  return e.add(begin, e.mul(count, lanes * format.blockBytes));
}

std::vector<KQuantPrefetch::Lines> KQuantPrefetch::linesOfPair(Value pair) const {
  constexpr int64_t pairs = KQuantUnpacker::pairs;
  Value later = e.add(pair, pairs / 2);
  std::vector<Lines> lines;
  for (Value begin : begins) {
    Value far = laterBlock(begin, e.index(blocksAhead)), next = laterBlock(begin, e.index(1)),
          near = laterBlock(begin, e.div(later, pairs));
    for (auto [i, field] : llvm::enumerate(format.fields)) {
      if (!unpacker.isCodeField(static_cast<int64_t>(i))) {
        lines.push_back(fieldLines(field, next, pair, pairs));
        continue;
      }
      lines.push_back(fieldLines(field, far, pair, pairs));
      lines.push_back(fieldLines(field, near, e.rem(later, pairs), pairs));
    }
  }
  return lines;
}

void KQuantPrefetch::prefetch(ArrayRef<Lines> ranges, PrefetchSlot slot) const {
  for (const Lines &lines : ranges)
    for (int64_t i = lines.count * slot.index / slot.count; i < lines.count * (slot.index + 1) / slot.count; ++i)
      e.prefetch(bytes, e.add(lines.address, i * cacheLineBytes), level);
}

KQuantPrefetch::Lines KQuantPrefetch::fieldLines(const BlockField &field, Value begin, Value part,
                                                 int64_t parts) const {
  int64_t size = lanes * field.words * field.wordBytes;
  Value first = e.mul(e.div(e.mul(part, size / cacheLineBytes), parts), cacheLineBytes);
  int64_t count = static_cast<int64_t>(llvm::divideCeil(size, cacheLineBytes * parts));
  return {e.add(e.add(begin, first), lanes * field.offset), count};
}

}  // namespace talc
