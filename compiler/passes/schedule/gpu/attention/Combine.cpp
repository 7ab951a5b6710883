// SPDX-License-Identifier: Apache-2.0
// kernel.combine by a workgroup: a thread takes a feature of a head through the blocks that the row sees.
//
// The operations are those of an attention that takes blocks one after the other, and so are the bits.
#include "compiler/passes/schedule/attention/OnlineSoftmax.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"

using namespace mlir;

namespace talc {

static int64_t columnsOf(kernel::CombineOp op) {
  return cast<ShapedType>(op.getInit().getType()).getDimSize(1);
}

int64_t threadsOfCombine(kernel::CombineOp op) {
  return threadsFor(columnsOf(op));
}

// The blocks of keys that the step's only row sees, [first, end).
static std::pair<Value, Value> seenBlocks(WorkgroupEmitter &e, kernel::CombineOp op) {
  auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), e.index(0));
  Value end = op.getSource() ? span.getSourceLength() : e.add(span.getFirstPosition(), 1), seen = e.index(0);
  if (op.getWindow() > 0)
    seen = e.max(e.sub(span.getFirstPosition(), e.index(op.getWindow() - 1)), seen);
  auto block = static_cast<int64_t>(op.getBlock());
  return {e.div(seen, block), e.ceilDiv(end, block)};
}

void expandCombine(WorkgroupEmitter &e, kernel::CombineOp op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  setExtents(e, op, [&]() -> Emitter::Values { return {e.index(1)}; });
  int64_t columns = columnsOf(op), width = columns / static_cast<int64_t>(op.getHeads());
  kernel::PartialAttentionLayout layout(op.getHeads(), width);
  int64_t blocks = cast<ShapedType>(op.getPartials().getType()).getDimSize(0);
  auto [begin, end] = seenBlocks(e, op);
  e.loop(tasks.part(0), tasks.part(1), 1, [&, begin = begin, end = end](Value row) {
    e.each(columns, [&](Value column) {
      Value head = e.div(column, width), place = e.add(e.mul(head, layout.paddedWidth), e.rem(column, width));
      SoftmaxState none = emptySoftmax(e);
      Emitter::Values all = {none.maximum, none.sum, e.splat(0)};
      all = e.loop(begin, end, 1, all, [&](Value block, ValueRange before) -> Emitter::Values {
        Value left = op.getRing() ? e.rem(block, blocks) : block;
        auto part = [&](Value at) { return e.loadScalar(op.getPartials(), {left, at}); };
        Value found = part(place), isFirst = e.less(block, e.add(begin, 1));
        MergedSoftmax now =
            mergeSoftmax(e, {before[0], before[1]}, {part(e.add(head, layout.maxima)), part(e.add(head, layout.sums))});
        Value output = mergeSoftmax(e, before[2], now.factor, found, now.gain);
        return {now.merged.maximum, now.merged.sum, e.select(isFirst, found, output)};
      });
      Value inverse =
          op.getSinks() ? inverseSum(e, {all[0], all[1]}, e.loadScalar(op.getSinks(), {head})) : inverseSum(e, all[1]);
      e.storeScalar(e.mulf(all[2], inverse), op.getInit(), {row, column});
    });
  });
}

}  // namespace talc
