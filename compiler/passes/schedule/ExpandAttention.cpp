// SPDX-License-Identifier: Apache-2.0
// expand-attention: loops for kernel.attention: online softmax over blocks of keys, grouped heads together.
//
// The queries of a key-value head form rows m = token * group + head-in-group. A task is one block of up to 24 such
// rows:
//
//   Q = scale * queries;  O = 0, max = -1e30, sum = 0
//   for each block of 64 keys, counted from position 0, that some row of the task sees: for each tile that sees it
//     S = Q * keys                       register tiles; keys lie in panels like a packed weight
//     per row: new max; S = exp(S - max), 0 where masked; sum; the factor exp(old max - new max)
//     O = factor * O + S * values        register tiles
//   out = O / sum
//
// Every row sees the same sequence of operations whatever its task looks like, since blocks begin at multiples of 64
// and masked keys add exact zeros: prefill, decode and ragged batches give the same bits. The finite -1e30 avoids inf -
// inf.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/RegisterTile.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr int64_t keyBlock = 64;
constexpr int64_t rowBlock = kernel::attentionRows;
constexpr double masked = -1e30;

class Attention {
public:
  Attention(OpBuilder &builder, kernel::AttentionOp op, int64_t lanes) : op(op), e(builder, op.getLoc(), lanes) {
    auto state = cast<StateType>(op.getState().getType());
    layout = std::make_unique<kernel::StateLayout>(state);
    width = layout->width;
    group = op.getHeads() / layout->heads;
  }

  void expand() {
    queries = e.stackBuffer({rowBlock, width});
    scores = e.stackBuffer({rowBlock, keyBlock});
    output = e.stackBuffer({rowBlock, layout->paddedWidth});
    maxima = e.stackBuffer({rowBlock});
    sums = e.stackBuffer({rowBlock});
    factors = e.stackBuffer({rowBlock});
    Value thread = kernel::ThreadOp::create(e.b, e.loc, op.getStep());
    Value threads = kernel::ThreadsOp::create(e.b, e.loc, op.getStep());
    Value spans = kernel::SpanCountOp::create(e.b, e.loc, op.getStep());
    Value zero = e.index(0), one = e.index(1), first = zero, end = e.rows(op.getQueries());
    Value turn = thread, turns = threads;
    if (shareOf(op) == kernel::Share::adaptive) {
      Value byRows = kernel::ByRowsOp::create(e.b, e.loc, op.getStep());
      auto [myFirst, myEnd] = e.share(op.getStep(), end, kernel::Share::rows);
      first = e.select(byRows, myFirst, first);
      end = e.select(byRows, myEnd, end);
      turn = e.select(byRows, zero, turn);
      turns = e.select(byRows, one, turns);
    }
    // Tasks are dealt to the threads in turn, counted through all sequences; by rows a thread takes all tasks of its
    // rows.
    e.loop(zero, spans, 1, ValueRange{zero}, [&](Value s, ValueRange carried) -> Emitter::Values {
      span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), s);
      Value spanEnd = e.add(span.getFirstRow(), span.getRows());
      firstToken = e.max(first, span.getFirstRow());
      rows = e.mul(e.max(e.sub(e.min(end, spanEnd), firstToken), zero), group);
      Value tasks = e.mul(e.ceilDiv(rows, rowBlock), layout->heads);
      Value firstTask = e.rem(e.sub(e.add(turn, turns), e.rem(carried[0], turns)), turns);
      e.loop(firstTask, tasks, turns, [&](Value task) { expandTask(task); });
      return {e.add(carried[0], tasks)};
    });
  }

private:
  void expandTask(Value task) {
    Value slot = span.getSlot();
    keys = kernel::KeysOp::create(e.b, e.loc, layout->keysType(e.b.getF32Type()), op.getStep(), op.getState(), slot);
    values =
        kernel::ValuesOp::create(e.b, e.loc, layout->valuesType(e.b.getF32Type()), op.getStep(), op.getState(), slot);
    head = e.rem(task, layout->heads);
    firstRow = e.mul(e.div(task, layout->heads), rowBlock);
    rowCount = e.min(e.index(rowBlock), e.sub(rows, firstRow));
    prepare();
    auto [begin, end] = keyRange();
    e.loop(begin, end, keyBlock, [&, end = end](Value firstKey) {
      Value keyCount = e.min(e.index(keyBlock), e.sub(end, firstKey));
      eachTile(firstKey, keyCount, [&](int64_t n, Value row, Value count) {
        computeScores(n, row, firstKey, count);
        e.loop(row, e.add(row, n), 1, [&](Value r) { softmaxRow(r, firstKey, count); });
      });
      eachTile(firstKey, keyCount, [&](int64_t n, Value row, Value count) { addValues(n, row, firstKey, count); });
    });
    finish();
  }

  // Where row `row` of the task lies: (row of the step, first feature of its head), and its position.
  std::pair<Value, Value> place(Value row) {
    Value m = e.add(firstRow, row);
    Value at = e.add(e.mul(head, group), e.rem(m, group));
    return {e.add(firstToken, e.div(m, group)), e.mul(at, width)};
  }
  Value position(Value row) {
    Value token = e.add(firstToken, e.div(e.add(firstRow, row), group));
    return e.add(span.getFirstPosition(), e.sub(token, span.getFirstRow()));
  }

  void prepare() {
    Value scale = e.splat(op.getScale().convertToDouble());
    Value start = e.lane(e.splat(masked), 0), zero = e.lane(e.splat(0), 0);
    e.loop(e.index(0), rowCount, 1, [&](Value row) {
      auto [source, feature] = place(row);
      e.columns(width, [&, source = source, feature = feature](Value column, Value mask) {
        Value query = e.load(op.getQueries(), {source, e.add(feature, column)}, mask);
        e.store(e.mulf(query, scale), queries, {row, column}, mask);
      });
      e.columns(layout->paddedWidth, [&](Value column, Value mask) {
        e.store(e.splat(0), output, {row, column}, mask);
      });
      e.storeScalar(start, maxima, {row});
      e.storeScalar(zero, sums, {row});
    });
  }

  // The keys that some row of the task sees; begins at a multiple of keyBlock.
  std::pair<Value, Value> keyRange() {
    Value end = e.add(span.getFirstPosition(), span.getRows());
    if (op.getMask() == MaskKind::causal)
      end = e.add(position(e.sub(rowCount, e.index(1))), 1);
    Value begin = e.index(0);
    if (op.getWindow() > 0) {
      Value oldest = e.max(e.sub(position(e.index(0)), e.index(op.getWindow() - 1)), begin);
      begin = e.mul(e.div(oldest, keyBlock), keyBlock);
    }
    return {begin, end};
  }

  // Runs body(rows, first row, keys) for the tiles of the task whose rows see some of the block's keys; the last row of
  // the tile sees `keys` of them.
  void eachTile(Value firstKey, Value keyCount, llvm::function_ref<void(int64_t, Value, Value)> body) {
    auto visit = [&](int64_t n, Value row) {
      Value count = keyCount;
      if (op.getMask() == MaskKind::causal)
        count = e.min(count, e.sub(e.add(position(e.add(row, n - 1)), 1), firstKey));
      Value sees = e.less(e.index(0), count);
      if (op.getWindow() > 0) {
        Value oldest = e.sub(position(row), e.index(op.getWindow() - 1));
        sees = arith::AndIOp::create(e.b, e.loc, sees, e.less(oldest, e.add(firstKey, keyBlock)));
      }
      e.when(sees, [&] { body(n, row, count); });
    };
    Value whole = e.mul(e.div(rowCount, tileRows), tileRows);
    e.loop(e.index(0), whole, tileRows, [&](Value row) { visit(tileRows, row); });
    e.dispatch(e.sub(rowCount, whole), 1, tileRows - 1, [&](int64_t n) { visit(n, whole); });
  }

  // Runs body(panels at a time, first panel) over [0, count), count at most `most`.
  void panels(int64_t rows, Value count, int64_t most, llvm::function_ref<void(int64_t, Value)> body) {
    int64_t step = std::min(panelsFor(rows, e.lanes), most);
    Value whole = e.mul(e.div(count, step), step);
    e.loop(e.index(0), whole, step, [&](Value panel) { body(step, panel); });
    if (step > 1)
      e.loop(whole, count, 1, [&](Value panel) { body(1, panel); });
  }

  // S[row, key - firstKey] = Q[row, :] * K[:, key] for whole panels that cover the keys
  void computeScores(int64_t n, Value row, Value firstKey, Value keyCount) {
    int64_t perPanel = kernel::panelLanes / e.lanes;
    Value firstPanel = e.div(firstKey, kernel::panelLanes);
    panels(n, e.ceilDiv(keyCount, kernel::panelLanes), keyBlock / kernel::panelLanes, [&](int64_t count, Value panel) {
      RegisterTile tile{n, count * perPanel, /*unroll=*/2,
                        [&](int64_t r, Value k) {
                          return e.loadScalar(queries, {e.add(row, r), k});
                        },
                        [&](Value k, int64_t v) {
                          Value at = e.add(e.add(firstPanel, panel), v / perPanel);
                          return e.load(keys, {head, at, k, e.index(v % perPanel * e.lanes)});
                        }};
      Emitter::Values zeros(n * tile.vectors, e.splat(0));
      Emitter::Values sums = tile.accumulate(e, zeros, width);
      for (int64_t r = 0; r < n; ++r)
        for (int64_t v = 0; v < tile.vectors; ++v)
          e.store(sums[r * tile.vectors + v], scores,
                  {e.add(row, r), e.add(e.mul(panel, kernel::panelLanes), v * e.lanes)});
    });
  }

  // Lanes of the keys [firstKey + offset, + lanes) that the row at `position` sees.
  Value visible(Value position, Value firstKey, Value keyCount, int64_t offset) {
    Value end = e.sub(keyCount, e.index(offset));
    if (op.getMask() == MaskKind::causal)
      end = e.min(end, e.sub(e.add(position, 1), e.add(firstKey, offset)));
    Value mask = e.firstLanes(e.max(end, e.index(0)));
    if (op.getWindow() == 0)
      return mask;
    Value begin = e.sub(e.sub(position, e.index(op.getWindow() - 1)), e.add(firstKey, offset));
    Value before = e.firstLanes(e.max(begin, e.index(0)));
    Value all = e.firstLanes(e.lanes);
    return arith::AndIOp::create(e.b, e.loc, mask, arith::XOrIOp::create(e.b, e.loc, before, all));
  }

  Value exp(Value x) { return math::ExpOp::create(e.b, e.loc, x); }

  // Two passes over the row's scores, so that no more than a few vectors are alive at a time.
  void softmaxRow(Value row, Value firstKey, Value keyCount) {
    Value at = position(row), before = e.broadcast(e.loadScalar(maxima, {row}));
    auto column = [&](int64_t offset) { return Emitter::Values{row, e.index(offset)}; };
    Value maximum = e.splat(masked);
    for (int64_t offset = 0; offset < keyBlock; offset += e.lanes) {
      Value seen = visible(at, firstKey, keyCount, offset);
      Value score = e.select(seen, e.load(scores, column(offset)), e.splat(masked));
      e.store(score, scores, column(offset));
      maximum = e.maxf(score, maximum);
    }
    maximum = e.maxf(before, e.maxLanes(maximum));
    Value factor = exp(e.subf(before, maximum));
    Value sum = e.splat(0);
    for (int64_t offset = 0; offset < keyBlock; offset += e.lanes) {
      // A masked score weighs nothing even if the row has seen no key and `maximum` is as low; NaN counts as seen.
      Value score = e.load(scores, column(offset));
      Value seen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UGT, score, e.splat(masked));
      Value weight = e.select(seen, exp(e.subf(score, maximum)), e.splat(0));
      e.store(weight, scores, column(offset));
      sum = e.addf(sum, weight);
    }
    Value total = e.fma(e.broadcast(e.loadScalar(sums, {row})), factor, e.sumLanes(sum));
    e.storeScalar(e.lane(maximum, 0), maxima, {row});
    e.storeScalar(e.lane(factor, 0), factors, {row});
    e.storeScalar(e.lane(total, 0), sums, {row});
  }

  // O[row, :] = factor[row] * O[row, :] + S[row, :] * V
  void addValues(int64_t n, Value row, Value firstKey, Value keyCount) {
    int64_t perPanel = kernel::panelLanes / e.lanes, count = layout->paddedWidth / kernel::panelLanes;
    panels(n, e.index(count), count, [&](int64_t wide, Value panel) {
      int64_t vectors = wide * perPanel;
      auto column = [&](int64_t v) { return e.add(e.mul(panel, kernel::panelLanes), v * e.lanes); };
      RegisterTile tile{n, vectors, /*unroll=*/1,
                        [&](int64_t r, Value k) {
                          return e.loadScalar(scores, {e.add(row, r), k});
                        },
                        [&](Value k, int64_t v) {
                          Value at = e.add(panel, v / perPanel);
                          return e.load(values, {head, at, e.add(firstKey, k), e.index(v % perPanel * e.lanes)});
                        }};
      Emitter::Values init;
      for (int64_t r = 0; r < n; ++r) {
        Value factor = e.broadcast(e.loadScalar(factors, {e.add(row, r)}));
        for (int64_t v = 0; v < vectors; ++v)
          init.push_back(e.mulf(e.load(output, {e.add(row, r), column(v)}), factor));
      }
      Emitter::Values result = tile.accumulate(e, init, keyCount);
      for (int64_t r = 0; r < n; ++r)
        for (int64_t v = 0; v < vectors; ++v)
          e.store(result[r * vectors + v], output, {e.add(row, r), column(v)});
    });
  }

  // out = O / sum, zero for a row that saw no key
  void finish() {
    e.loop(e.index(0), rowCount, 1, [&](Value row) {
      auto [target, feature] = place(row);
      Value sum = e.broadcast(e.loadScalar(sums, {row})), zero = e.splat(0);
      Value seen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UNE, sum, zero);
      Value inverse = e.select(seen, e.divf(e.splat(1), sum), zero);
      e.columns(width, [&, target = target, feature = feature](Value column, Value mask) {
        Value result = e.mulf(e.load(output, {row, column}), inverse);
        e.store(result, op.getInit(), {target, e.add(feature, column)}, mask);
      });
    });
  }

  kernel::AttentionOp op;
  Emitter e;
  std::unique_ptr<kernel::StateLayout> layout;
  int64_t width, group;
  Value queries, scores, output, maxima, sums, factors;  // scratch of this thread
  kernel::SpanOp span;                                   // the sequence
  Value firstToken, rows;                                // this thread's tokens of it, its rows m
  Value head, firstRow, rowCount, keys, values;          // the task
};

struct ExpandAttention : talc::impl::ExpandAttentionBase<ExpandAttention> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::AttentionOp> ops;
    getOperation().walk([&](kernel::AttentionOp op) { ops.push_back(op); });
    for (kernel::AttentionOp op : ops) {
      OpBuilder builder(op);
      Attention(builder, op, lanes).expand();
      op.erase();
    }
  }
};

}  // namespace
