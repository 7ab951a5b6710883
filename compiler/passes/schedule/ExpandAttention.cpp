// SPDX-License-Identifier: Apache-2.0
// expand-attention: loops for kernel.attention, grouped heads together.
//
// The queries of a key-value head form rows m = token * group + head-in-group; a task is a block of such rows:
//
//   Q = scale * queries;  O = 0, max = -1e30, sum = 0
//   for each block of keys, counted from position 0, that some row of the task sees
//     S = Q * keys                     register tiles; keys lie in panels like a packed weight
//     per row: m = max S;  S = exp(S - m), 0 where masked;  s = sum S
//     P = S * values                   register tiles, from zero
//     per row: O, sum, max = O, sum, max and P, s, m brought to the larger maximum
//   out = O / sum
//
// If no row can see more than one block, the last step falls away (two passes over the keys, no rescaling); else this
// is the online softmax. AttentionSchedule.h chooses the sizes. A tile of 6 rows works on the keys that its rows see,
// and on no others; rows that see less have zeros there.
//
// Every row sees the same sequence of operations whatever its task looks like, since blocks begin at fixed positions
// and masked keys add exact zeros: prefill, decode and ragged batches give the same bits. The finite -1e30 avoids inf -
// inf.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/AttentionKeys.h"
#include "compiler/passes/schedule/AttentionSchedule.h"
#include "compiler/passes/schedule/RegisterTile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr double masked = -1e30;
constexpr int64_t perTile = 64;  // keys whose scores all tiles compute before the next ones are read

class Attention {
public:
  Attention(OpBuilder &builder, kernel::AttentionOp op, int64_t lanes, const AttentionSchedule &schedule)
      : op(op), e(builder, op.getLoc(), lanes), keyBlock(schedule.keys), rowBlock(schedule.rows),
        online(schedule.kind != AttentionKind::twoPass), keys(e, op, keyBlock), width(keys.layout.width),
        paddedWidth(keys.layout.paddedWidth), group(op.getHeads() / keys.layout.heads) {}

  void expand() {
    makeScratch();
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
      keys.enter(span);
      Value spanEnd = e.add(span.getFirstRow(), span.getRows());
      firstToken = e.max(first, span.getFirstRow());
      rows = e.mul(e.max(e.sub(e.min(end, spanEnd), firstToken), zero), group);
      blocks = e.ceilDiv(rows, rowBlock);
      Value tasks = e.mul(blocks, keys.layout.heads);
      Value firstTask = e.rem(e.sub(e.add(turn, turns), e.rem(carried[0], turns)), turns);
      e.loop(firstTask, tasks, turns, [&](Value task) { expandTask(task); });
      return {e.add(carried[0], tasks)};
    });
  }

private:
  void makeScratch() {
    queries = e.stackBuffer({rowBlock, width});
    // Rows begin in different sets of the cache.
    scores = e.stackBuffer({rowBlock, keyBlock + kernel::panelLanes});
    output = e.stackBuffer({rowBlock, paddedWidth});
    sums = e.stackBuffer({rowBlock});
    if (online)
      for (Value *scalars : {&maxima, &factors, &gains})
        *scalars = e.stackBuffer({rowBlock});
    for (Value *bounds : {&firstSeen, &endSeen})
      *bounds = memref::AllocaOp::create(e.b, e.loc, MemRefType::get({rowBlock}, e.b.getIndexType()));
  }

  void expandTask(Value task) {
    head = e.div(task, blocks);
    firstRow = e.mul(e.rem(task, blocks), rowBlock);
    bool oneTask = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1 && group <= rowBlock;
    rowCount = oneTask ? e.index(group) : e.min(e.index(rowBlock), e.sub(rows, firstRow));
    prepare();
    Value begin = e.mul(e.div(bound(firstSeen, e.index(0)), keyBlock), keyBlock);
    Value end = bound(endSeen, e.sub(rowCount, e.index(1)));
    e.loop(begin, end, keyBlock, [&](Value first) {
      firstKey = first;
      keyCount = e.min(e.index(keyBlock), e.sub(end, firstKey));
      block = keys.find(head, firstKey, keyCount);
      e.loop(e.index(0), keyCount, perTile, [&](Value from) {
        Value to = e.min(keyCount, e.add(from, perTile));
        eachTile(from, to, [&](int64_t n, Value row, Value a, Value b) { computeScores(n, row, a, b); });
      });
      eachTile(e.index(0), keyCount, [&](int64_t n, Value row, Value from, Value to) { weigh(n, row, from, to); });
    });
    finish();
  }

  Value bound(Value bounds, Value row) { return memref::LoadOp::create(e.b, e.loc, bounds, row); }

  // Where row `row` of the task lies: (row of the step, first feature of its head); its position.
  std::pair<Value, Value> place(Value row) {
    return {e.add(firstToken, e.div(e.add(firstRow, row), group)), e.mul(queryHead(row), width)};
  }
  Value queryHead(Value row) { return e.add(e.mul(head, group), e.rem(e.add(firstRow, row), group)); }
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
      e.columns(paddedWidth, [&](Value column, Value) { e.store(e.splat(0), output, {row, column}); });
      e.storeScalar(zero, sums, {row});
      if (online)
        e.storeScalar(start, maxima, {row});
      Value at = position(row);
      e.storeScalar(keys.firstSeen(at), firstSeen, {row});
      e.storeScalar(keys.endSeen(at), endSeen, {row});
    });
  }

  // Runs body(rows, first row, from, to) for the tiles of the task of which some row sees some of the block's keys
  // [begin, end), counted from the block's first: it sees [from, to), from being rounded down to a panel.
  void eachTile(Value begin, Value end, llvm::function_ref<void(int64_t, Value, Value, Value)> body) {
    auto visit = [&](int64_t n, Value row) {
      Value from = begin, to = e.min(end, e.sub(bound(endSeen, e.add(row, n - 1)), firstKey));
      if (op.getWindow() > 0) {
        Value seen = e.max(e.sub(bound(firstSeen, row), firstKey), begin);
        from = e.mul(e.div(seen, kernel::panelLanes), kernel::panelLanes);
      }
      e.when(e.less(from, to), [&] { body(n, row, from, to); });
    };
    Value whole = e.mul(e.div(rowCount, tileRows), tileRows);
    e.loop(e.index(0), whole, tileRows, [&](Value row) { visit(tileRows, row); });
    e.dispatch(e.sub(rowCount, whole), 1, tileRows - 1, [&](int64_t n) { visit(n, whole); });
  }

  // Runs body(panels at a time, first panel) over [first, end), which are at most `most`. Wide vectors come with twice
  // the registers, and four panels side by side halve the loads of a tile's scalars.
  void panels(int64_t rows, Value first, Value end, int64_t most, llvm::function_ref<void(int64_t, Value)> body) {
    int64_t widest = e.lanes > 8 ? 4 : panelsFor(rows, e.lanes);
    for (int64_t step = std::min(widest, most); step > 0; step /= 2) {
      Value whole = e.add(first, e.mul(e.div(e.sub(end, first), step), step));
      e.loop(first, whole, step, [&](Value panel) { body(step, panel); });
      first = whole;
    }
  }

  // S[row, key] = Q[row, :] * K[:, key] for whole panels that cover the keys [from, to)
  void computeScores(int64_t n, Value row, Value from, Value to) {
    int64_t perPanel = kernel::panelLanes / e.lanes;
    Value first = e.div(from, kernel::panelLanes), end = e.ceilDiv(to, kernel::panelLanes);
    panels(n, first, end, keyBlock / kernel::panelLanes, [&](int64_t count, Value panel) {
      RegisterTile tile{n, count * perPanel, /*unroll=*/2,
                        [&](int64_t r, Value k) {
                          return e.loadScalar(queries, {e.add(row, r), k});
                        },
                        [&](Value k, int64_t v) {
                          Value lane = e.index(v % perPanel * e.lanes);
                          return e.load(block.keys, {e.add(panel, v / perPanel), k, lane});
                        }};
      Emitter::Values zeros(n * tile.vectors, e.splat(0));
      Emitter::Values sums = tile.accumulate(e, zeros, width);
      for (int64_t r = 0; r < n; ++r)
        for (int64_t v = 0; v < tile.vectors; ++v)
          e.store(sums[r * tile.vectors + v], scores,
                  {e.add(row, r), e.add(e.mul(panel, kernel::panelLanes), v * e.lanes)});
    });
  }

  // What follows the scores of a tile; a block that all its rows see whole needs no masks.
  void weigh(int64_t n, Value row, Value from, Value to) {
    Value last = e.add(row, n - 1);
    Value left = e.sub(bound(endSeen, row), firstKey);
    Value whole = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, left, e.index(keyBlock));
    if (op.getWindow() > 0)
      whole = arith::AndIOp::create(e.b, e.loc, whole, e.less(bound(firstSeen, last), e.add(firstKey, 1)));
    auto eachRow = [&](bool isWhole) {
      e.loop(row, e.add(row, n), 1, [&](Value r) { softmaxRow(r, from, to, isWhole); });
    };
    auto branch = scf::IfOp::create(e.b, e.loc, whole, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(branch.thenBlock());
      eachRow(true);
      e.b.setInsertionPointToStart(branch.elseBlock());
      eachRow(false);
    }
    addValues(n, row, from, to);
  }

  // Lanes of the keys [column, + lanes) of the block that the row sees.
  Value visible(Value row, Value column) {
    Value at = e.add(firstKey, column), zero = e.index(0);
    Value mask = e.firstLanes(e.max(e.sub(bound(endSeen, row), at), zero));
    if (op.getWindow() == 0)
      return mask;
    Value before = e.firstLanes(e.max(e.sub(bound(firstSeen, row), at), zero));
    return arith::AndIOp::create(e.b, e.loc, mask, arith::XOrIOp::create(e.b, e.loc, before, e.firstLanes(e.lanes)));
  }

  // What the bias adds to the scores of the keys from `column` on; only visible ones have a place in it. A query is no
  // further from the first key than L - 1, so that none begins before the bias's row.
  Value biasOf(Value row, Value column, Value seen) {
    int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
    Value at = e.sub(e.add(e.add(firstKey, column), middle), position(row));
    return e.load(op.getBias(), {queryHead(row), at}, seen);
  }

  Value exp(Value x) { return math::ExpOp::create(e.b, e.loc, x); }

  // The largest of the row's scores, after they were masked and biased; in every lane.
  Value largestScore(Value row, Value from, Value to, bool isWhole) {
    int64_t chains = isWhole ? 4 : 1;
    Emitter::Values init(chains, e.splat(masked));
    auto next = [&](Value column, Value maximum) {
      Value score = e.load(scores, {row, column}), seen = isWhole ? Value() : visible(row, column);
      if (op.getBias())
        score = e.addf(score, biasOf(row, column, seen));
      if (!isWhole)
        score = e.select(seen, score, e.splat(masked));
      if (!isWhole || op.getBias())
        e.store(score, scores, {row, column});
      return e.maxf(score, maximum);
    };
    init = e.loop(from, to, chains * e.lanes, init, [&](Value column, ValueRange carried) {
      Emitter::Values maxima;
      for (int64_t c = 0; c < chains; ++c)
        maxima.push_back(next(e.add(column, c * e.lanes), carried[c]));
      return maxima;
    });
    Value maximum = init[0];
    for (Value other : ArrayRef<Value>(init).drop_front())
      maximum = e.maxf(other, maximum);
    return e.maxLanes(maximum);
  }

  // S = exp(S - maximum); returns the sum in every lane. A masked score weighs nothing even if the row has seen no key
  // and `maximum` is as low; NaN counts as seen.
  Value weighScores(Value row, Value from, Value to, Value maximum, bool isWhole) {
    int64_t unroll = isWhole ? 4 : 1;
    auto next = [&](Value column, Value sum) {
      Value score = e.load(scores, {row, column}), weight = exp(e.subf(score, maximum));
      if (!isWhole) {
        Value seen = arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::UGT, score, e.splat(masked));
        weight = e.select(seen, weight, e.splat(0));
      }
      e.store(weight, scores, {row, column});
      return e.addf(sum, weight);
    };
    Emitter::Values sum = e.loop(from, to, unroll * e.lanes, e.splat(0), [&](Value column, ValueRange carried) {
      Value sum = carried[0];
      for (int64_t u = 0; u < unroll; ++u)
        sum = next(e.add(column, u * e.lanes), sum);
      return Emitter::Values{sum};
    });
    return e.sumLanes(sum[0]);
  }

  void softmaxRow(Value row, Value from, Value to, bool isWhole) {
    if (isWhole) {
      from = e.index(0);
      to = e.index(keyBlock);
    }
    Value largest = largestScore(row, from, to, isWhole);
    Value sum = weighScores(row, from, to, largest, isWhole);
    auto store = [&](Value vector, Value memory) { e.storeScalar(e.lane(vector, 0), memory, {row}); };
    if (online) {
      Value before = e.broadcast(e.loadScalar(maxima, {row})), maximum = e.maxf(before, largest);
      Value factor = exp(e.subf(before, maximum)), gain = exp(e.subf(largest, maximum));
      sum = e.fma(e.broadcast(e.loadScalar(sums, {row})), factor, e.mulf(sum, gain));
      store(maximum, maxima);
      store(factor, factors);
      store(gain, gains);
    }
    store(sum, sums);
  }

  // O[row, :] = S[row, from:to] * V[from:to, :], beside what earlier blocks added
  void addValues(int64_t n, Value row, Value from, Value to) {
    int64_t perPanel = kernel::panelLanes / e.lanes, count = paddedWidth / kernel::panelLanes;
    panels(n, e.index(0), e.index(count), count, [&](int64_t wide, Value panel) {
      int64_t vectors = wide * perPanel;
      RegisterTile tile{n, vectors, /*unroll=*/1,
                        [&](int64_t r, Value k) {
                          return e.loadScalar(scores, {e.add(row, r), e.add(from, k)});
                        },
                        [&](Value k, int64_t v) {
                          Value lane = e.index(v % perPanel * e.lanes);
                          return e.load(block.values, {e.add(panel, v / perPanel), e.add(from, k), lane});
                        }};
      Emitter::Values zeros(n * vectors, e.splat(0)), result = tile.accumulate(e, zeros, e.sub(to, from));
      for (int64_t r = 0; r < n; ++r)
        for (int64_t v = 0; v < vectors; ++v) {
          Value column = e.add(e.mul(panel, kernel::panelLanes), v * e.lanes);
          addOutput(e.add(row, r), column, result[r * vectors + v]);
        }
    });
  }
  void addOutput(Value row, Value column, Value part) {
    if (online) {
      Value factor = e.broadcast(e.loadScalar(factors, {row})), gain = e.broadcast(e.loadScalar(gains, {row}));
      part = e.fma(part, gain, e.mulf(e.load(output, {row, column}), factor));
    }
    e.store(part, output, {row, column});
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
  const int64_t keyBlock, rowBlock;
  const bool online;  // a row may see several blocks
  AttentionKeys keys;
  const int64_t width, paddedWidth, group;
  Value queries, scores, output, maxima, sums, factors, gains, firstSeen, endSeen;  // scratch of this thread
  kernel::SpanOp span;                                                              // the sequence
  Value firstToken, rows, blocks;  // this thread's tokens of it, its rows m, and blocks of them
  Value head, firstRow, rowCount;  // the task
  Value firstKey, keyCount;        // the block
  KeyBlock block;
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
      AttentionSchedule schedule = scheduleOf(op, lanes, keys);
      auto kind = remark::RemarkOpts::name("attention").category("schedule");
      remark::passed(op.getLoc(), kind.function(op->getParentOfType<func::FuncOp>().getName())) << schedule.reason;
      Attention(builder, op, lanes, schedule).expand();
      op.erase();
    }
  }
};

}  // namespace
