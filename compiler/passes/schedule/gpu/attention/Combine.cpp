// SPDX-License-Identifier: Apache-2.0
// kernel.combine: a thread merges a feature of a head over the split-KV blocks of the only token.
//
// The operations, and so the bits, are those of FlashAttention.cpp, which adds one block after the other.
#include "compiler/passes/schedule/attention/OnlineSoftmax.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"

using namespace mlir;

namespace talc {

static int64_t outputColumns(kernel::CombineOp op) {
  return cast<ShapedType>(op.getInit().getType()).getDimSize(1);
}

int64_t combineThreads(kernel::CombineOp op) {
  return threadsForColumns(outputColumns(op));
}

// The blocks of keys that the only token sees, [first, end).
static std::pair<Value, Value> visibleBlocks(WorkgroupEmitter &e, kernel::CombineOp op) {
  auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), e.index(0));
  Value end = op.getSource() ? span.getSourceLength() : e.add(span.getFirstPosition(), 1), first = e.index(0);
  if (op.getWindow() > 0)
    first = e.max(e.sub(span.getFirstPosition(), e.index(op.getWindow() - 1)), first);
  auto block = static_cast<int64_t>(op.getBlock());
  return {e.div(first, block), e.ceilDiv(end, block)};
}

void expandCombine(WorkgroupEmitter &e, kernel::CombineOp op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  setExtents(e, op, [&]() -> Emitter::Values { return {e.index(1)}; });
  int64_t columns = outputColumns(op), width = columns / static_cast<int64_t>(op.getHeads());
  kernel::PartialAttentionLayout layout(op.getHeads(), width);
  int64_t blocks = cast<ShapedType>(op.getPartials().getType()).getDimSize(0);
  auto [begin, end] = visibleBlocks(e, op);
  e.loop(tasks.part(0), tasks.part(1), 1, [&, begin = begin, end = end](Value row) {
    e.each(columns, [&](Value column) {
      Value head = e.div(column, width), feature = e.add(e.mul(head, layout.paddedWidth), e.rem(column, width));
      SoftmaxState empty = emptySoftmax(e);
      Emitter::Values state = {empty.maximum, empty.sum, e.splat(0)};
      state = e.loop(begin, end, 1, state, [&](Value block, ValueRange before) -> Emitter::Values {
        Value bufferRow = op.getRing() ? e.rem(block, blocks) : block;
        auto load = [&](Value at) { return e.loadScalar(op.getPartials(), {bufferRow, at}); };
        Value partial = load(feature), isFirst = e.less(block, e.add(begin, 1));
        MergedSoftmax merge =
            mergeSoftmax(e, {before[0], before[1]}, {load(e.add(head, layout.maxima)), load(e.add(head, layout.sums))});
        Value output = mergeSoftmax(e, before[2], merge.factor, partial, merge.gain);
        return {merge.merged.maximum, merge.merged.sum, e.select(isFirst, partial, output)};
      });
      Value inverse = op.getSinks() ? inverseSum(e, {state[0], state[1]}, e.loadScalar(op.getSinks(), {head}))
                                    : inverseSum(e, state[1]);
      e.storeScalar(e.mulf(state[2], inverse), op.getInit(), {row, column});
    });
  });
}

}  // namespace talc
