// SPDX-License-Identifier: Apache-2.0
// What a tile that reads a weight once fetches ahead of blocks of 256 values.
#include "compiler/passes/schedule/cpu/SuperStreams.h"

#include "compiler/passes/schedule/BlockReader.h"

using namespace mlir;

namespace talc {

namespace {

const StorageFormat &formatOfWeight(const ContractCode &c) {
  return elementFormat(cast<ShapedType>(c.weight.getType()));
}

int64_t vectorsOfPanel(const ContractCode &c) {
  return c.plan.panelLanes / c.e.lanes;
}

}  // namespace

bool SuperStreams::serve(const ContractCode &c, const TilePlaces &tile) {
  return tile.streams && c.plan.fetchLevel == 1 &&
         c.plan.pieceLanes(static_cast<int64_t>(tile.rows.size())) == c.plan.panelLanes;
}

SuperStreams::SuperStreams(const ContractCode &c, const SuperBlocks &blocks, const TilePlaces &tile, Value k)
    : e(c.e), format(formatOfWeight(c)), blocks(blocks), lanes(c.plan.panelLanes), level(c.plan.fetchLevel),
      ahead(std::max<int64_t>(c.plan.fetchAhead * lineBytes / (lanes * format.blockBytes), 1)),
      bytes(e.bytes(c.weight)) {
  for (size_t i = 0; i < tile.panels.size(); i += vectorsOfPanel(c))
    begins.push_back(placeIn(e, c.weight, {tile.panels[i], e.add(tile.firstK, k), e.index(0)}).begin);
  for (Value begin : begins)
    for (auto [i, field] : llvm::enumerate(format.fields))
      if (!blocks.isLevels(static_cast<int64_t>(i)))
        scales.push_back(linesOf(field, blockBehind(begin, e.index(ahead)), e.index(0), 1));
}

Value SuperStreams::blockBehind(Value begin, Value count) const {
  return e.add(begin, e.mul(count, lanes * format.blockBytes));
}

std::vector<SuperStreams::Lines> SuperStreams::ofPair(Value pair) const {
  constexpr int64_t pairs = SuperBlocks::pairs;
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

void SuperStreams::fetch(ArrayRef<Lines> lines, Turn turn) const {
  for (const Lines &of : lines)
    for (int64_t i = of.count * turn.number / turn.count; i < of.count * (turn.number + 1) / turn.count; ++i)
      e.prefetch(bytes, e.add(of.address, i * lineBytes), level);
}

SuperStreams::Lines SuperStreams::linesOf(const BlockField &field, Value begin, Value part, int64_t parts) const {
  int64_t size = lanes * field.words * field.wordBytes;
  Value first = e.mul(e.div(e.mul(part, size / lineBytes), parts), lineBytes);
  int64_t count = static_cast<int64_t>(llvm::divideCeil(size, lineBytes * parts));
  return {e.add(e.add(begin, first), lanes * field.offset), count};
}

}  // namespace talc
