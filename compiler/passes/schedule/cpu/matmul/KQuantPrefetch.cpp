// SPDX-License-Identifier: Apache-2.0
// What a tile that reads a weight once fetches ahead of blocks of 256 values.
#include "compiler/passes/schedule/cpu/matmul/KQuantPrefetch.h"

#include "compiler/passes/schedule/storage/BlockReader.h"

using namespace mlir;

namespace talc {

namespace {

const StorageFormat &formatOfWeight(const MatmulContext &c) {
  return elementFormat(cast<ShapedType>(c.weight.getType()));
}

int64_t vectorsOfPanel(const MatmulContext &c) {
  return c.plan.panelLanes / c.e.lanes;
}

}  // namespace

bool KQuantPrefetch::serve(const MatmulContext &c, const TileOperands &tile) {
  return tile.streams && c.plan.fetchLevel == 1 &&
         c.plan.pieceLanes(static_cast<int64_t>(tile.rows.size())) == c.plan.panelLanes;
}

KQuantPrefetch::KQuantPrefetch(const MatmulContext &c, const KQuantUnpacker &blocks, const TileOperands &tile, Value k)
    : e(c.e), format(formatOfWeight(c)), blocks(blocks), lanes(c.plan.panelLanes), level(c.plan.fetchLevel),
      ahead(std::max<int64_t>(c.plan.fetchAhead * cacheLineBytes / (lanes * format.blockBytes), 1)),
      bytes(e.bytes(c.weight)) {
  for (size_t i = 0; i < tile.panels.size(); i += vectorsOfPanel(c))
    begins.push_back(blockAddress(e, c.weight, {tile.panels[i], e.add(tile.firstK, k), e.index(0)}).begin);
  for (Value begin : begins)
    for (auto [i, field] : llvm::enumerate(format.fields))
      if (!blocks.isLevels(static_cast<int64_t>(i)))
        scales.push_back(linesOf(field, blockBehind(begin, e.index(ahead)), e.index(0), 1));
}

Value KQuantPrefetch::blockBehind(Value begin, Value count) const {
  return e.add(begin, e.mul(count, lanes * format.blockBytes));
}

std::vector<KQuantPrefetch::Lines> KQuantPrefetch::ofPair(Value pair) const {
  constexpr int64_t pairs = KQuantUnpacker::pairs;
  Value later = e.add(pair, pairs / 2);
  std::vector<Lines> all;
  for (Value begin : begins) {
    Value far = blockBehind(begin, e.index(ahead)), next = blockBehind(begin, e.index(1)),
          near = blockBehind(begin, e.div(later, pairs));
    for (auto [i, field] : llvm::enumerate(format.fields)) {
      if (!blocks.isLevels(static_cast<int64_t>(i))) {
        all.push_back(linesOf(field, next, pair, pairs));
        continue;
      }
      all.push_back(linesOf(field, far, pair, pairs));
      all.push_back(linesOf(field, near, e.rem(later, pairs), pairs));
    }
  }
  return all;
}

void KQuantPrefetch::fetch(ArrayRef<Lines> lines, PrefetchSlot turn) const {
  for (const Lines &of : lines)
    for (int64_t i = of.count * turn.number / turn.count; i < of.count * (turn.number + 1) / turn.count; ++i)
      e.prefetch(bytes, e.add(of.address, i * cacheLineBytes), level);
}

KQuantPrefetch::Lines KQuantPrefetch::linesOf(const BlockField &field, Value begin, Value part, int64_t parts) const {
  int64_t size = lanes * field.words * field.wordBytes;
  Value first = e.mul(e.div(e.mul(part, size / cacheLineBytes), parts), cacheLineBytes);
  int64_t count = static_cast<int64_t>(llvm::divideCeil(size, cacheLineBytes * parts));
  return {e.add(e.add(begin, first), lanes * field.offset), count};
}

}  // namespace talc
