// SPDX-License-Identifier: Apache-2.0
// The loops of a task of kernel.memory, which is a head of the memory.
//
//   for each sequence of the step
//     at the first token of a segment    M += dM; dM = 0        in the first segment: M = 0; dM = 0
//     for each of its tokens, in order
//       for each query head of the group    result = g * s(q) M / max(s(q).z, 1e-6) + (1 - g) * local
//       v' = v, or v - s(k) M / max(s(k).z, 1e-6);    dM += s(k)^T v'
//
// The normalization vector z is the row after the matrix. The update of a segment is added to M when the next one
// begins, so that results do not depend on how a sequence is cut into steps. Sums over tokens and over the features of
// a key are single chains in ascending order for the same reason.
#include "compiler/passes/schedule/attention/MemoryLoops.h"

#include "compiler/passes/schedule/rows/RowLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

namespace {

constexpr double leastDivisor = 1e-6;

class Memory {
public:
  Memory(Emitter &e, kernel::MemoryOp op) : e(e), op(op), tasks(kernel::TasksOp::around(op)) {
    auto cache = cast<KvCacheType>(op.getCache().getType());
    heads = cache.getHeads();
    width = cache.getWidth();
    group = op.getHeads() / heads;
    type = MemRefType::get(kernel::memoryShape(cache), e.b.getF32Type());
  }

  void expand() {
    // Allocated before the tasks, in the frame of the function.
    e.b.setInsertionPoint(tasks);
    for (Value *row : {&features, &found, &left})
      *row = e.stackBuffer({width});
    tasks.getExtentsMutable().assign(e.index(heads));
    Value spans = kernel::SpanCountOp::create(e.b, e.loc, op.getStep());
    e.b.setInsertionPoint(op);
    head = tasks.part(0);
    e.loop(e.index(0), spans, 1, [&](Value s) { sequence(s); });
  }

private:
  void sequence(Value s) {
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), s);
    matrices = kernel::MatricesOp::create(e.b, e.loc, type, op.getStep(), op.getCache(), span.getSlot());
    Value segment = kernel::SegmentOp::create(e.b, e.loc, op.getStep(), s);
    isFirst = e.less(segment, e.index(1));
    e.when(e.less(span.getFirstPosition(), e.index(1)), [&] {
      e.choose(
          isFirst, [&] { clear(); }, [&] { commit(); });
    });
    Value end = e.add(span.getFirstToken(), span.getTokens());
    e.loop(span.getFirstToken(), end, 1, [&](Value row) {
      e.loop(e.index(0), e.index(group), 1, [&](Value g) { read(row, e.add(e.mul(head, group), g)); });
      write(row);
    });
  }

  // Each row of the matrix, then the normalization vector.
  void eachRow(llvm::function_ref<void(Value row, Value column, Value mask)> body) {
    e.loop(e.index(0), e.index(width + 1), 1,
           [&](Value row) { e.columns(width, [&](Value column, Value mask) { body(row, column, mask); }); });
  }

  Value load(int64_t part, Value row, Value column, Value mask) {
    return e.load(matrices, {head, e.index(part), row, column}, mask);
  }
  void store(Value value, int64_t part, Value row, Value column, Value mask) {
    e.store(value, matrices, {head, e.index(part), row, column}, mask);
  }

  void clear() {
    eachRow([&](Value row, Value column, Value mask) {
      for (int64_t part : {0, 1})
        store(e.splat(0), part, row, column, mask);
    });
  }

  void commit() {
    eachRow([&](Value row, Value column, Value mask) {
      store(e.addf(load(0, row, column, mask), load(1, row, column, mask)), 0, row, column, mask);
      store(e.splat(0), 1, row, column, mask);
    });
  }

  // features = s(x): elu(x) + 1, never negative. Only these are read by other lanes than the one that stored them.
  void activate(Value x, Value row, Value first) {
    e.sync();
    e.columns(width, [&](Value column, Value mask) {
      Value value = e.load(x, {row, e.add(first, column)}, mask), zero = e.splat(0);
      Value isPositive = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OGT, value, zero);
      Value power = math::ExpOp::create(e.b, e.loc, value);
      e.store(e.select(isPositive, e.addf(value, e.splat(1)), power), features, {column}, mask);
    });
    e.sync();
  }

  // found = features M / max(features.z, 1e-6)
  void recall() {
    Value divisor = sumColumns(e, width, [&](Value column, Value mask) {
      return e.mulf(e.load(features, {column}, mask), load(0, e.index(width), column, mask));
    });
    divisor = e.maxf(divisor, e.splat(leastDivisor));
    for (int64_t first = 0; first < width; first += memoryVectorsAtOnce * e.lanes)
      recallColumns(first, divisor);
  }

  void recallColumns(int64_t first, Value divisor) {
    int64_t count = std::min(memoryVectorsAtOnce, (width - first + e.lanes - 1) / e.lanes),
            last = width - first - (count - 1) * e.lanes;
    auto maskOf = [&](int64_t v) { return v == count - 1 && last < e.lanes ? e.firstLanes(last) : Value(); };
    Emitter::Values zeros(count, e.splat(0));
    Emitter::Values sums = e.loop(e.index(0), e.index(width), 1, zeros, [&](Value i, ValueRange carried) {
      Value feature = e.broadcast(e.loadScalar(features, {i}));
      Emitter::Values next;
      for (int64_t v = 0; v < count; ++v)
        next.push_back(e.fma(feature, load(0, i, e.index(first + v * e.lanes), maskOf(v)), carried[v]));
      return next;
    });
    for (int64_t v = 0; v < count; ++v)
      e.store(e.divf(sums[v], divisor), found, {e.index(first + v * e.lanes)}, maskOf(v));
  }

  Value gateOf(Value queryHead) {
    Value beta = e.broadcast(e.loadScalar(op.getGates(), {queryHead}));
    Value power = math::ExpOp::create(e.b, e.loc, e.subf(e.splat(0), beta));
    Value gate = e.divf(e.splat(1), e.addf(e.splat(1), power));
    return op.getLocalFirst() ? e.select(isFirst, e.splat(0), gate) : gate;
  }

  void read(Value row, Value queryHead) {
    Value first = e.mul(queryHead, width);
    activate(op.getQueries(), row, first);
    recall();
    Value gate = gateOf(queryHead), rest = e.subf(e.splat(1), gate);
    e.columns(width, [&](Value column, Value mask) {
      Value at = e.add(first, column);
      Value local = e.mulf(rest, e.load(op.getLocal(), {row, at}, mask));
      e.store(e.fma(gate, e.load(found, {column}, mask), local), op.getInit(), {row, at}, mask);
    });
  }

  void write(Value row) {
    Value first = e.mul(head, width);
    activate(op.getKeys(), row, first);
    bool differs = op.getUpdate() == MemoryUpdate::delta;
    if (differs)
      recall();
    e.columns(width, [&](Value column, Value mask) {
      Value value = e.load(op.getValues(), {row, e.add(first, column)}, mask);
      if (differs)
        value = e.subf(value, e.load(found, {column}, mask));
      e.store(value, left, {column}, mask);
      Value divisor = e.addf(load(1, e.index(width), column, mask), e.load(features, {column}, mask));
      store(divisor, 1, e.index(width), column, mask);
    });
    e.loop(e.index(0), e.index(width), 1, [&](Value i) {
      Value feature = e.broadcast(e.loadScalar(features, {i}));
      e.columns(width, [&](Value column, Value mask) {
        store(e.fma(feature, e.load(left, {column}, mask), load(1, i, column, mask)), 1, i, column, mask);
      });
    });
  }

  Emitter &e;
  kernel::MemoryOp op;
  kernel::TasksOp tasks;
  int64_t heads, width, group;  // group: query heads of a key-value head
  MemRefType type;
  Value head, matrices, isFirst;  // of the task and of the sequence
  Value features, found, left;    // of a query or key
};

}  // namespace

void expandMemory(Emitter &e, kernel::MemoryOp op) {
  Memory(e, op).expand();
}

}  // namespace talc
