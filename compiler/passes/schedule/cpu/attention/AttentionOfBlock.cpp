// SPDX-License-Identifier: Apache-2.0
// Attention, one block of a single row's keys: leaves P, the maximum and the sum for kernel.combine.
#include "compiler/passes/schedule/cpu/attention/AttentionStrategies.h"

using namespace mlir;

namespace talc {

static void leavePart(AttentionLoops &loops, const RowsOfHead &rows, Value index) {
  Emitter &e = loops.e;
  kernel::PartialAttentionLayout layout(loops.op.getHeads(), loops.width);
  Value init = loops.op.getInit();
  if (loops.keys.layout.isRing())
    index = e.rem(index, cast<ShapedType>(init.getType()).getDimSize(0));
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    Value head = rows.queryHead(row);
    e.columns(loops.paddedWidth, [&](Value column, Value) {
      Value at = e.add(e.mul(head, loops.paddedWidth), column);
      e.store(e.load(loops.tiles.part, {row, column}), init, {index, at});
    });
    e.storeScalar(loops.softmax.blockMaximum(row), init, {index, e.add(head, layout.maxima)});
    e.storeScalar(loops.softmax.blockSum(row), init, {index, e.add(head, layout.sums)});
  });
}

void expandBlockOfRow(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows, Value index, Value end) {
  Emitter &e = loops.e;
  Value first = e.mul(index, loops.schedule.keys);
  loops.begin(rows);
  expandBlockOfHead(loops, products, rows, first, e.min(e.index(loops.schedule.keys), e.sub(end, first)));
  leavePart(loops, rows, index);
}

}  // namespace talc
