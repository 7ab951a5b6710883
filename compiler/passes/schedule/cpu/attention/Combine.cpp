// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.combine merge the partial results of the blocks that a token sees, several heads side by side.
//
// The operations are those of attention that takes blocks one after the other, and so are the bits.
#include "compiler/passes/schedule/cpu/attention/AttentionSoftmax.h"
#include "compiler/passes/schedule/cpu/rows/CpuRowOps.h"

using namespace mlir;

namespace talc {

namespace {

class Combine {
public:
  Combine(Emitter &e, kernel::CombineOp op)
      : op(op), e(e), tasks(kernel::TasksOp::around(op)), heads(op.getHeads()),
        width(cast<ShapedType>(op.getInit().getType()).getDimSize(1) / heads), layout(heads, width) {}

  // Which blocks the token sees is computed once, before the tasks.
  void expand() {
    e.b.setInsertionPoint(tasks);
    output = e.stackBuffer({e.lanes, layout.paddedWidth});
    factors = e.stackBuffer({e.lanes});
    gains = e.stackBuffer({e.lanes});
    findBlocks();
    tasks.getExtentsMutable().assign(e.index(1));
    e.b.setInsertionPoint(op);
    e.loop(tasks.part(0), tasks.part(1), 1,
           [&](Value) { e.loop(e.index(0), e.index(heads), e.lanes, [&](Value head) { expandHeads(head); }); });
  }

private:
  // The blocks of keys that the step's only token sees.
  void findBlocks() {
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), e.index(0));
    Value end = op.getSource() ? span.getSourceLength() : e.add(span.getFirstPosition(), 1), seen = e.index(0);
    if (op.getWindow() > 0)
      seen = e.max(e.sub(span.getFirstPosition(), e.index(op.getWindow() - 1)), seen);
    begin = e.div(seen, op.getBlock());
    blocksEnd = e.ceilDiv(end, static_cast<int64_t>(op.getBlock()));
  }

  void expandHeads(Value first) {
    Value count = e.min(e.index(e.lanes), e.sub(e.index(heads), first));
    auto eachHead = [&](llvm::function_ref<void(Value, Value)> body) {
      e.loop(e.index(0), count, 1, [&](Value at) { body(at, e.add(first, at)); });
    };
    SoftmaxState none = emptySoftmax(e);
    Emitter::Values all = {none.maximum, none.sum};
    all = e.loop(begin, blocksEnd, 1, all, [&](Value block, ValueRange carried) -> Emitter::Values {
      Value part = partialIndex(block);
      SoftmaxState state = {e.load(op.getPartials(), {part, e.add(first, layout.maxima)}),
                            e.load(op.getPartials(), {part, e.add(first, layout.sums)})};
      MergedSoftmax now = mergeSoftmax(e, {carried[0], carried[1]}, state);
      e.store(now.factor, factors, {e.index(0)});
      e.store(now.gain, gains, {e.index(0)});
      eachHead([&](Value at, Value head) { merge(block, at, head); });
      return {now.merged.maximum, now.merged.sum};
    });
    Value inverse = inverseSum(e, all[1]);
    if (op.getSinks())
      inverse = inverseSum(e, {all[0], all[1]}, e.load(op.getSinks(), {first}, e.firstLanes(count)));
    e.store(inverse, factors, {e.index(0)});
    eachHead([&](Value at, Value head) { store(at, head); });
  }

  // The row that holds the partial result of a block of keys.
  Value partialIndex(Value block) {
    return op.getRing() ? e.rem(block, cast<ShapedType>(op.getPartials().getType()).getDimSize(0)) : block;
  }

  void merge(Value block, Value at, Value head) {
    Value isFirst = e.less(block, e.add(begin, 1)), from = e.mul(head, layout.paddedWidth), row = partialIndex(block);
    Value factor = e.broadcast(e.loadScalar(factors, {at})), gain = e.broadcast(e.loadScalar(gains, {at}));
    e.columns(layout.paddedWidth, [&](Value column, Value) {
      Value part = e.load(op.getPartials(), {row, e.add(from, column)}), before = e.load(output, {at, column});
      e.store(e.select(isFirst, part, mergeSoftmax(e, before, factor, part, gain)), output, {at, column});
    });
  }

  // Zero for a token that saw no key, which has no output either.
  void store(Value at, Value head) {
    Value any = e.less(begin, blocksEnd), inverse = e.broadcast(e.loadScalar(factors, {at}));
    e.columns(width, [&](Value column, Value mask) {
      Value result = e.select(any, e.mulf(e.load(output, {at, column}), inverse), e.splat(0));
      e.store(result, op.getInit(), {e.index(0), e.add(e.mul(head, width), column)}, mask);
    });
  }

  kernel::CombineOp op;
  Emitter &e;
  kernel::TasksOp tasks;
  const int64_t heads, width;
  const kernel::PartialAttentionLayout layout;
  Value output, factors, gains;  // scratch of this thread, for as many heads as a vector has lanes
  Value begin, blocksEnd;
};

}  // namespace

void expandCombine(Emitter &e, kernel::CombineOp op) {
  Combine(e, op).expand();
}

}  // namespace talc
