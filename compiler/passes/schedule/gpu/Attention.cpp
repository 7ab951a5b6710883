// SPDX-License-Identifier: Apache-2.0
// kernel.attention by a workgroup: one query at a time over blocks of keys, whose scores lie in shared memory.
//
//   for each block of keys, counted from position 0, that the row sees
//     S[key] = q * K[:, key], scaled, biased      a thread has every n-th key
//     m = c * max S;  S = 2^(c * S - m);  s = sum S
//     P[f] = sum over keys of S[key] * V[key, f]  a thread has every n-th feature
//     what was found is brought together with the blocks before (OnlineSoftmax.h)
//
// Blocks begin at fixed positions, and a row never sees another one's task: its bits depend on nothing beside it. The
// block of a single row's keys does the same operations, and leaves them for kernel.combine.
#include "compiler/passes/schedule/AttentionSchedule.h"
#include "compiler/passes/schedule/OnlineSoftmax.h"
#include "compiler/passes/schedule/SeenKeys.h"
#include "compiler/passes/schedule/StatePanels.h"
#include "compiler/passes/schedule/ZeroKeys.h"
#include "compiler/passes/schedule/gpu/ThreadState.h"
#include "compiler/passes/schedule/gpu/WorkgroupPieces.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

namespace {

// What a block yields for a query, and the query's row, head and place. What is kept meets other queries.
struct Query {
  Value row, head, position, queries;
};
struct Found {
  Weighed weighed;
  Emitter::Values outputs;  // of the thread's features
};

class Attention {
public:
  Attention(WorkgroupEmitter &e, kernel::AttentionOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), layout(cast<StateType>(op.getState().getType())),
        state(ThreadState::create(e, layout)), seen(e, op), size(scheduleOf(op, 0).keys),
        group(op.getHeads() / layout.heads), features(llvm::divideCeil(layout.width, e.lanes)),
        scale(op.getScale().convertToDouble()), cap(op.getCap().convertToDouble()),
        scalesFirst(op.getBias() || op.getRowBias() || cap > 0 || scale <= 0) {}

  void expand() {
    scores = e.shared({size});
    op.getBlock() ? expandKeys() : expandQueries();
  }

private:
  void expandQueries() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {e.rows(op.getQueries()), e.index(layout.heads), e.index(group)};
               },
               {1, 1});
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), tasks.part(0));
    seen.enter(span);
    e.loop(e.index(0), tasks.part(4), 1, [&](Value number) {
      Value m = e.add(tasks.part(3), number), token = e.div(m, group);
      Value head = e.add(e.mul(tasks.part(1), group), e.rem(m, group));
      wholeQuery({e.add(span.getFirstRow(), token), head, e.add(span.getFirstPosition(), token), op.getQueries()});
    });
  }

  // A block of the only row's keys, for every query of a head; see PartsLayout.
  void expandKeys() {
    e.b.setInsertionPoint(tasks);  // what is seen says how many tasks there are
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), e.index(0));
    seen.enter(span);
    Value position = span.getFirstPosition(), first = seen.firstAt(position), end = seen.endAt(position);
    setExtents(e, op, [&]() -> Emitter::Values {
      return {e.div(first, size), e.ceilDiv(end, size), e.index(layout.heads)};
    });
    e.b.setInsertionPoint(op);
    kernel::PartsLayout parts(op.getHeads(), layout.width);
    Value block = tasks.part(0), left = block;
    if (layout.isRing())
      left = e.rem(block, cast<ShapedType>(op.getInit().getType()).getDimSize(0));
    e.loop(e.index(0), e.index(group), 1, [&](Value number) {
      Value head = e.add(e.mul(tasks.part(1), group), number);
      Found found = ofBlock({e.index(0), head, position, op.getQueries()}, e.mul(block, size), first, end);
      eachFeature(found.outputs, [&](Value feature, Value output) {
        e.storeScalar(output, op.getInit(), {left, e.add(e.mul(head, parts.paddedWidth), feature)});
      });
      e.once([&] {
        e.storeScalar(found.weighed.maximum, op.getInit(), {left, e.add(head, parts.maxima)});
        e.storeScalar(found.weighed.sum, op.getInit(), {left, e.add(head, parts.sums)});
      });
    });
  }

  void wholeQuery(const Query &query) {
    Value first = seen.firstAt(query.position), end = seen.endAt(query.position);
    Value begin = e.mul(e.div(first, size), size);
    bool isKept = layout.kept > 0;
    Emitter::Values all = isKept ? ofKept(query) : ofNothing();
    all = e.loop(begin, end, size, all, [&](Value firstKey, ValueRange before) {
      Found found = ofBlock(query, firstKey, first, end);
      BroughtTogether now = bringTogether(e, {before[0], before[1]}, found.weighed);
      Value isFirst = e.less(firstKey, e.add(begin, 1));
      Emitter::Values next = {now.both.maximum, now.both.sum};
      for (int64_t i = 0; i < features; ++i) {
        Value both = bringTogether(e, before[2 + i], now.factor, found.outputs[i], now.gain);
        next.push_back(isKept ? both : e.select(isFirst, found.outputs[i], both));
      }
      return next;
    });
    Value column = e.mul(query.head, layout.width);
    Value inverse = inverseFor(query, {all[0], all[1]});
    eachFeature(ArrayRef(all).drop_front(2), [&](Value feature, Value output) {
      e.storeScalar(e.mulf(output, inverse), op.getInit(), {query.row, e.add(column, feature)});
    });
  }

  Value inverseFor(const Query &query, Weighed all) {
    if (op.getSinks())
      return inverseOf(e, all, e.loadScalar(op.getSinks(), {query.head}));
    if (op.getZeroStart())
      return inverseOf(e, all, zeroKeys(e, op, query.row, query.head, query.position));
    return inverseOf(e, all.sum);
  }

  // Maximum, sum and outputs before the first block.
  Emitter::Values ofNothing() {
    Weighed none = nothingWeighed(e);
    Emitter::Values all = {none.maximum, none.sum};
    all.append(features, e.splat(0));
    return all;
  }

  // The same of the tokens that are kept, which are no more than a block.
  Emitter::Values ofKept(Query query) {
    query.queries = op.getKeptQueries();
    seen.beginKept();
    Emitter::Values all = ofNothing();
    for (int64_t first = 0; first < layout.kept; first += size) {
      Found found = ofBlock(query, e.index(first), e.index(0), seen.endAt(query.position));
      BroughtTogether now = bringTogether(e, {all[0], all[1]}, found.weighed);
      Emitter::Values next = {now.both.maximum, now.both.sum};
      for (int64_t i = 0; i < features; ++i)
        next.push_back(first == 0 ? found.outputs[i]
                                  : bringTogether(e, all[2 + i], now.factor, found.outputs[i], now.gain));
      all = next;
    }
    seen.endKept();
    return all;
  }

  // The keys [firstKey, + size) as far as they are seen.
  Found ofBlock(const Query &query, Value firstKey, Value firstSeen, Value endSeen) {
    Value from = e.max(firstKey, firstSeen), to = e.min(e.add(firstKey, size), endSeen);
    e.sync();  // everyone has read the scores that were there before
    Weighed weighed = weigh(query, firstKey, from, to);
    e.sync();
    return {weighed, addValues(query, firstKey, from, to)};
  }

  Weighed weigh(const Query &query, Value firstKey, Value from, Value to) {
    Value begin = e.add(from, e.thread()), steepness = e.splat((scalesFirst ? 1 : scale) * llvm::numbers::log2e);
    Emitter::Values largest = {e.splat(maskedScore)};
    largest = e.loop(begin, to, e.lanes, largest, [&](Value key, ValueRange before) -> Emitter::Values {
      Value score = scoreOf(query, key);
      e.storeScalar(score, scores, {e.sub(key, firstKey)});
      return {e.maxf(score, before[0])};
    });
    Value maximum = e.mulf(e.maxLanes(largest[0]), steepness), subtracted = e.subf(e.splat(0), maximum);
    Emitter::Values sum = {e.splat(0)};
    sum = e.loop(begin, to, e.lanes, sum, [&](Value key, ValueRange before) -> Emitter::Values {
      Value place = e.sub(key, firstKey), score = e.loadScalar(scores, {place});
      Value weight = exp2(e, e.fma(score, steepness, subtracted));
      e.storeScalar(weight, scores, {place});
      return {e.addf(before[0], weight)};
    });
    return {maximum, e.sumLanes(sum[0])};
  }

  // What the softmax sees of a query and a key.
  Value scoreOf(const Query &query, Value key) {
    Value keys = state->keys(op.getStep(), op.getState(), slotOf(key));
    Value column = e.mul(query.head, layout.width);
    StatePlace at = placeOf(query, key);
    Emitter::Values sum = {e.splat(0)};
    sum = e.loop(e.index(0), e.index(layout.width), 1, sum, [&](Value k, ValueRange before) -> Emitter::Values {
      Value q = e.loadScalar(query.queries, {query.row, e.add(column, k)});
      return {e.fma(q, state->loadKey(keys, at, k), before[0])};
    });
    Value bias = op.getRowBias() ? rowBiasOf(query, key) : op.getBias() ? biasOf(query, key) : Value();
    if (cap > 0) {
      Value score = math::TanhOp::create(e.b, e.loc, e.mulf(sum[0], e.splat(scale / cap)));
      score = e.mulf(score, e.splat(cap));
      return bias ? e.addf(score, bias) : score;
    }
    if (bias)
      return e.fma(sum[0], e.splat(scale), bias);
    return scalesFirst ? e.mulf(sum[0], e.splat(scale)) : sum[0];
  }

  Value biasOf(const Query &query, Value key) {
    int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
    Value at = op.getAbsolute() ? key : e.sub(e.add(key, middle), query.position);
    return e.loadScalar(op.getBias(), {query.head, at});
  }

  // Keys further away than the bias has columns for have that of the first.
  Value rowBiasOf(const Query &query, Value key) {
    int64_t distances = distancesOf(op);
    Value at = e.max(e.sub(e.add(key, distances - 1), query.position), e.index(0));
    return e.loadScalar(op.getRowBias(), {query.row, e.add(e.mul(query.head, distances), at)});
  }

  // P of the thread's features, keys ascending. Those beyond the last are computed as the last again.
  Emitter::Values addValues(const Query &query, Value firstKey, Value from, Value to) {
    Emitter::Values columns, zeros(features, e.splat(0));
    for (int64_t i = 0; i < features; ++i)
      columns.push_back(e.min(e.add(e.thread(), i * e.lanes), e.index(layout.width - 1)));
    return e.loop(from, to, 1, zeros, [&](Value key, ValueRange before) {
      Value values = state->values(op.getStep(), op.getState(), slotOf(key));
      Value weight = e.loadScalar(scores, {e.sub(key, firstKey)});
      StatePlace at = placeOf(query, key);
      Emitter::Values next;
      for (int64_t i = 0; i < features; ++i)
        next.push_back(e.fma(weight, state->loadValue(values, at, columns[i]), before[i]));
      return next;
    });
  }

  // body(feature, value) for the thread's features.
  void eachFeature(ArrayRef<Value> values, llvm::function_ref<void(Value, Value)> body) {
    for (auto [i, value] : llvm::enumerate(values)) {
      Value feature = e.add(e.thread(), static_cast<int64_t>(i) * e.lanes);
      e.when(e.less(feature, e.index(layout.width)), [&, value = value] { body(feature, value); });
    }
  }

  StatePlace placeOf(const Query &query, Value key) {
    Value panel = e.div(key, layout.tokens);
    return {seen.isKept() ? panel : panelPlace(e, layout, panel), e.div(query.head, group), e.rem(key, layout.tokens)};
  }

  // Which slot has a key (see kernel.span).
  Value slotOf(Value key) {
    if (!seen.mayScatter())
      return seen.slot;
    Value elsewhere = arith::AndIOp::create(e.b, e.loc, seen.isScattered(), e.less(key, seen.span.getFirstPosition()));
    return e.either(
        elsewhere,
        [&]() -> Value {
          return kernel::HistoryOp::create(e.b, e.loc, op.getStep(), e.add(seen.span.getHistory(), key));
        },
        seen.slot);
  }

  WorkgroupEmitter &e;
  kernel::AttentionOp op;
  kernel::TasksOp tasks;
  const kernel::StateLayout layout;
  const std::unique_ptr<ThreadState> state;
  SeenKeys seen;
  const int64_t size, group, features;  // keys of a block; queries of a key-value head; of a thread
  const double scale, cap;
  const bool scalesFirst;  // before the largest is found, and not on the way to the weights
  Value scores;            // of a block
};

}  // namespace

int64_t threadsOfAttention(kernel::AttentionOp op) {
  return 128;
}

void expandAttention(WorkgroupEmitter &e, kernel::AttentionOp op) {
  Attention(e, op).expand();
}

}  // namespace talc
