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
//
// The keys that a row sees are an interval, whose ends rise with the row's position whatever the mask. A block whose
// keys lie in several slots (see kernel.span) is gathered first; the tiles read it as if it lay in one.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/RegisterTile.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

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
    role = state.getRole();
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
    if (role == StateRole::sequence) {
      gatheredKeys = e.stackBuffer({keyBlock / kernel::panelLanes, width, kernel::panelLanes});
      gatheredValues = e.stackBuffer({layout->paddedWidth / kernel::panelLanes, keyBlock, kernel::panelLanes});
    }
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
      bool source = role == StateRole::source;
      slot = source ? span.getSourceSlot() : span.getSlot();
      allKeys = source ? span.getSourceLength() : e.add(span.getFirstPosition(), span.getRows());
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
    head = e.rem(task, layout->heads);
    firstRow = e.mul(e.div(task, layout->heads), rowBlock);
    rowCount = e.min(e.index(rowBlock), e.sub(rows, firstRow));
    prepare();
    auto [begin, end] = keyRange();
    e.loop(begin, end, keyBlock, [&, end = end](Value firstKey) {
      Value keyCount = e.min(e.index(keyBlock), e.sub(end, firstKey));
      findBlock(firstKey, keyCount);
      eachTile(firstKey, keyCount, [&](int64_t n, Value row, Value count) {
        computeScores(n, row, count);
        e.loop(row, e.add(row, n), 1, [&](Value r) { softmaxRow(r, firstKey, count); });
      });
      eachTile(firstKey, keyCount, [&](int64_t n, Value row, Value count) { addValues(n, row, count); });
    });
    finish();
  }

  // Where row `row` of the task lies: (row of the step, first feature of its head), and its position.
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
      e.columns(layout->paddedWidth, [&](Value column, Value mask) {
        e.store(e.splat(0), output, {row, column}, mask);
      });
      e.storeScalar(start, maxima, {row});
      e.storeScalar(zero, sums, {row});
    });
  }

  // The first key that the row at `position` sees, and the end of those that it sees.
  Value firstSeen(Value position) {
    return op.getWindow() > 0 ? e.max(e.sub(position, e.index(op.getWindow() - 1)), e.index(0)) : e.index(0);
  }
  Value endSeen(Value position) {
    Value end = allKeys;
    if (op.getMask() == MaskKind::causal)
      return e.add(position, 1);
    if (op.getMask() == MaskKind::prefix)
      end = e.min(end, e.max(e.add(position, 1), span.getPrefix()));
    return op.getWindow() > 0 ? e.min(end, e.add(position, op.getWindow())) : end;
  }

  // The keys that some row of the task sees; begins at a multiple of keyBlock.
  std::pair<Value, Value> keyRange() {
    Value end = endSeen(position(e.sub(rowCount, e.index(1)))), begin = e.index(0);
    if (op.getWindow() > 0)
      begin = e.mul(e.div(firstSeen(position(e.index(0))), keyBlock), keyBlock);
    return {begin, end};
  }

  // Runs body(rows, first row, keys) for the tiles of the task whose rows see some of the block's keys; the last row of
  // the tile sees `keys` of them.
  void eachTile(Value firstKey, Value keyCount, llvm::function_ref<void(int64_t, Value, Value)> body) {
    auto visit = [&](int64_t n, Value row) {
      Value count = e.min(keyCount, e.sub(endSeen(position(e.add(row, n - 1))), firstKey));
      Value sees = e.less(e.index(0), count);
      if (op.getWindow() > 0)
        sees = arith::AndIOp::create(e.b, e.loc, sees, e.less(firstSeen(position(row)), e.add(firstKey, keyBlock)));
      e.when(sees, [&] { body(n, row, count); });
    };
    Value whole = e.mul(e.div(rowCount, tileRows), tileRows);
    e.loop(e.index(0), whole, tileRows, [&](Value row) { visit(tileRows, row); });
    e.dispatch(e.sub(rowCount, whole), 1, tileRows - 1, [&](int64_t n) { visit(n, whole); });
  }

  // A slot's keys and values.
  std::pair<Value, Value> memoryOf(Value slot) {
    Type f32 = e.b.getF32Type();
    return {kernel::KeysOp::create(e.b, e.loc, layout->keysType(f32), op.getStep(), op.getState(), slot),
            kernel::ValuesOp::create(e.b, e.loc, layout->valuesType(f32), op.getStep(), op.getState(), slot)};
  }

  // The `rows` neighbours of each of `blocks` blocks of `memory`, from element `offset` on.
  Value view(Value memory, int64_t blocks, int64_t rows, Value offset, int64_t stride) {
    constexpr int64_t lanes = kernel::panelLanes;
    auto strides = StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic, {stride, lanes, 1});
    auto type = MemRefType::get({blocks, rows, lanes}, e.b.getF32Type(), strides);
    auto number = [&](int64_t value) -> OpFoldResult { return e.b.getIndexAttr(value); };
    return memref::ReinterpretCastOp::create(e.b, e.loc, type, memory, offset,
                                             {number(blocks), number(rows), number(lanes)},
                                             {number(stride), number(lanes), number(1)});
  }

  // Sets `keys` and `values` to those of the block: [panel, k, key] and [panel, key, feature].
  void findBlock(Value firstKey, Value keyCount) {
    constexpr int64_t lanes = kernel::panelLanes;
    int64_t keyPanels = keyBlock / lanes, valuePanels = layout->paddedWidth / lanes, capacity = layout->panels * lanes;
    auto [slotKeys, slotValues] = memoryOf(slot);
    Value key = e.add(e.mul(head, capacity), firstKey), value = e.add(e.mul(head, valuePanels * capacity), firstKey);
    keys = view(slotKeys, keyPanels, width, e.mul(key, width), width * lanes);
    values = view(slotValues, valuePanels, keyBlock, e.mul(value, lanes), capacity * lanes);
    if (role != StateRole::sequence)
      return;
    Value isShared = arith::CmpIOp::create(e.b, e.loc, arith::CmpIPredicate::sge, span.getHistory(), e.index(0));
    Value gathered = arith::AndIOp::create(e.b, e.loc, isShared, e.less(firstKey, span.getFirstPosition()));
    e.when(gathered, [&] { gather(firstKey, keyCount); });
    keys = e.select(gathered, view(gatheredKeys, keyPanels, width, e.index(0), width * lanes), keys);
    Value copies = view(gatheredValues, valuePanels, keyBlock, e.index(0), keyBlock * lanes);
    auto strides = StridedLayoutAttr::get(e.b.getContext(), ShapedType::kDynamic, {ShapedType::kDynamic, lanes, 1});
    auto type = MemRefType::get({valuePanels, keyBlock, lanes}, e.b.getF32Type(), strides);
    values = e.select(gathered, memref::CastOp::create(e.b, e.loc, type, copies),
                      memref::CastOp::create(e.b, e.loc, type, values));
  }

  // Copies the block's keys and values, each from the slot where it lies.
  void gather(Value firstKey, Value keyCount) {
    Value past = span.getFirstPosition(), newest = e.add(span.getHistory(), e.sub(past, e.index(1)));
    e.loop(e.index(0), keyCount, 1, [&](Value key) {
      Value at = e.add(firstKey, key), panel = e.div(at, kernel::panelLanes), lane = e.rem(at, kernel::panelLanes);
      Value entry = e.min(e.add(span.getHistory(), at), newest);
      Value from = e.select(e.less(at, past), kernel::HistoryOp::create(e.b, e.loc, op.getStep(), entry), slot);
      auto [slotKeys, slotValues] = memoryOf(from);
      e.loop(e.index(0), e.index(width), 1, [&, slotKeys = slotKeys](Value k) {
        e.storeScalar(e.loadScalar(slotKeys, {head, panel, k, lane}), gatheredKeys,
                      {e.div(key, kernel::panelLanes), k, lane});
      });
      e.loop(e.index(0), e.index(layout->paddedWidth), e.lanes, [&, slotValues = slotValues](Value column) {
        Value part = e.div(column, kernel::panelLanes), offset = e.rem(column, kernel::panelLanes);
        e.store(e.load(slotValues, {head, part, at, offset}), gatheredValues, {part, key, offset});
      });
    });
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
  void computeScores(int64_t n, Value row, Value keyCount) {
    int64_t perPanel = kernel::panelLanes / e.lanes;
    panels(n, e.ceilDiv(keyCount, kernel::panelLanes), keyBlock / kernel::panelLanes, [&](int64_t count, Value panel) {
      RegisterTile tile{n, count * perPanel, /*unroll=*/2,
                        [&](int64_t r, Value k) {
                          return e.loadScalar(queries, {e.add(row, r), k});
                        },
                        [&](Value k, int64_t v) {
                          return e.load(keys, {e.add(panel, v / perPanel), k, e.index(v % perPanel * e.lanes)});
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
    Value end = e.sub(keyCount, e.index(offset)), first = e.add(firstKey, offset);
    if (op.getMask() != MaskKind::full || op.getWindow() > 0)
      end = e.min(end, e.sub(endSeen(position), first));
    Value mask = e.firstLanes(e.max(end, e.index(0)));
    if (op.getWindow() == 0)
      return mask;
    Value before = e.firstLanes(e.max(e.sub(firstSeen(position), first), e.index(0)));
    Value all = e.firstLanes(e.lanes);
    return arith::AndIOp::create(e.b, e.loc, mask, arith::XOrIOp::create(e.b, e.loc, before, all));
  }

  // What the bias adds to the scores of the keys from `firstKey` on; only visible ones have a column. A query is no
  // further from the first key than L - 1, so that none begins before the row.
  Value biasOf(Value row, Value position, Value firstKey, Value seen) {
    int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
    Value column = e.sub(e.add(firstKey, middle), position);
    return e.load(op.getBias(), {queryHead(row), column}, seen);
  }

  Value exp(Value x) { return math::ExpOp::create(e.b, e.loc, x); }

  // Two passes over the row's scores, so that no more than a few vectors are alive at a time.
  void softmaxRow(Value row, Value firstKey, Value keyCount) {
    Value at = position(row), before = e.broadcast(e.loadScalar(maxima, {row}));
    auto column = [&](int64_t offset) { return Emitter::Values{row, e.index(offset)}; };
    Value maximum = e.splat(masked);
    for (int64_t offset = 0; offset < keyBlock; offset += e.lanes) {
      Value seen = visible(at, firstKey, keyCount, offset);
      Value score = e.load(scores, column(offset));
      if (op.getBias())
        score = e.addf(score, biasOf(row, at, e.add(firstKey, offset), seen));
      score = e.select(seen, score, e.splat(masked));
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
  void addValues(int64_t n, Value row, Value keyCount) {
    int64_t perPanel = kernel::panelLanes / e.lanes, count = layout->paddedWidth / kernel::panelLanes;
    panels(n, e.index(count), count, [&](int64_t wide, Value panel) {
      int64_t vectors = wide * perPanel;
      auto column = [&](int64_t v) { return e.add(e.mul(panel, kernel::panelLanes), v * e.lanes); };
      RegisterTile tile{n, vectors, /*unroll=*/1,
                        [&](int64_t r, Value k) {
                          return e.loadScalar(scores, {e.add(row, r), k});
                        },
                        [&](Value k, int64_t v) {
                          return e.load(values, {e.add(panel, v / perPanel), k, e.index(v % perPanel * e.lanes)});
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
  StateRole role;
  int64_t width, group;
  Value queries, scores, output, maxima, sums, factors;  // scratch of this thread
  Value gatheredKeys, gatheredValues;                    // likewise: a block that lay in several slots
  kernel::SpanOp span;                                   // the sequence
  Value slot, allKeys;                                   // where its keys lie, and their number
  Value firstToken, rows;                                // this thread's tokens of it, its rows m
  Value head, firstRow, rowCount;                        // the task
  Value keys, values;                                    // the block
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
