// SPDX-License-Identifier: Apache-2.0
// expand-attention: loops for kernel.attention, grouped heads together.
//
// The queries of a key-value head form rows m = token * group + head-in-group; a task is a block of such rows:
//
//   O = 0
//   for each block of keys, counted from position 0, that some row of the task sees
//     S = queries * keys               register tiles; keys lie in panels like a packed weight
//     S = weights of the scaled scores AttentionSoftmax.h
//     P = S * values                   register tiles, from zero
//     O = O and P, brought to the larger maximum
//   out = O / sum
//
// If no row can see more than one block, O is P (two passes over the keys, no rescaling); else this is the online
// softmax. AttentionSchedule.h chooses the sizes. A tile of 6 rows works on the keys that its rows see, and on no
// others; rows that see less have zeros there. All tiles take a chunk of keys, or of values, before the next one is
// read, so that it stays in the first cache.
//
// A sequence of one row, in a step of many sequences, has little to do for each head: all its heads, or many, are rows
// of one task, whose products go through one loop, some heads side by side.
//
// With `block` each block of a single row's keys is a task, which leaves P, its maximum and its sum to kernel.combine.
//
// Every row sees the same sequence of operations whatever its task looks like, since blocks begin at fixed positions
// and masked keys add exact zeros: prefill, decode and ragged batches give the same bits.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/AttentionSchedule.h"
#include "compiler/passes/schedule/cpu/AttentionTiles.h"
#include "compiler/passes/schedule/cpu/Claims.h"
#include "compiler/passes/schedule/cpu/CombineBlocks.h"
#include "compiler/passes/schedule/cpu/EvenParts.h"
#include "compiler/passes/schedule/cpu/RegisterTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Remarks.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDATTENTION
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

// Keys, or values, that all tiles take before the next ones are read: as many panels as the widest tile takes side by
// side, and more up to a third of the first cache.
int64_t chunkOf(const kernel::StateLayout &layout, int64_t block) {
  constexpr int64_t widestPanels = 4, largestBytes = 16 << 10;
  int64_t keys = widestPanels * kernel::panelLanes;
  while (keys < block && 2 * keys * layout.paddedWidth * 4 <= largestBytes)
    keys *= 2;
  return std::min(keys, block);
}

// The largest divisor of the heads that is no more than `most`.
int64_t headsOfToken(int64_t heads, int64_t most) {
  int64_t count = std::clamp<int64_t>(most, 1, heads);
  while (heads % count != 0)
    --count;
  return count;
}

class Attention {
public:
  Attention(OpBuilder &builder, kernel::AttentionOp op, int64_t lanes, const AttentionSchedule &schedule)
      : op(op), e(builder, op.getLoc(), lanes), keyBlock(schedule.keys), rowBlock(schedule.rows),
        online(schedule.kind != AttentionKind::twoPass), keys(e, op, keyBlock, rowBlock),
        softmax(e, keys, op, rowBlock, keyBlock, online), tiles(e, keys.layout, softmax, rowBlock),
        width(keys.layout.width), paddedWidth(keys.layout.paddedWidth), group(op.getHeads() / keys.layout.heads),
        chunk(chunkOf(keys.layout, keyBlock)), oneRow(cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1),
        tokenHeads(headsOfToken(keys.layout.heads, rowBlock / group)) {}

  void expand() {
    makeScratch();
    if (op.getBlock())
      return expandSplit();
    Value thread = kernel::ThreadOp::create(e.b, e.loc, op.getStep()), zero = e.index(0);
    turns = kernel::ThreadsOp::create(e.b, e.loc, op.getStep());
    spans = kernel::SpanCountOp::create(e.b, e.loc, op.getStep());
    Value tasks = countTasks();
    // Threads claim tasks; with a single row they take them in turn, as kernel.append stored the heads.
    Claims claims(e, op.getStep(), tasks, truth(e, !oneRow));
    // Counted through all sequences, again if a task of an earlier one is claimed.
    loopWithin(e, claims.next(thread), zero, tasks, [&](Value first) {
      return e.loop(zero, spans, 1, {zero, first}, [&](Value s, ValueRange carried) -> Emitter::Values {
        Value before = carried[0], count = enter(s);
        Value other = loopWithin(e, carried[1], before, count, [&](Value task) {
          expandEither(e.sub(task, before));
          return claims.next(e.add(task, turns));
        });
        return {e.add(before, count), other};
      })[1];
    });
  }

private:
  // Returns the number of the sequence's tasks.
  Value enter(Value s) {
    span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), s);
    keys.enter(span);
    firstToken = span.getFirstRow();
    rows = e.mul(span.getRows(), group);
    blocks = e.ceilDiv(rows, rowBlock);
    byHeads = dealsHeads();
    Value tasks = e.mul(blocks, keys.layout.heads);
    return byHeads ? e.select(byHeads, tasks, e.index(keys.layout.heads / tokenHeads)) : tasks;
  }

  Value countTasks() {
    Value zero = e.index(0);
    return e.loop(zero, spans, 1, ValueRange{zero},
                  [&](Value s, ValueRange carried) -> Emitter::Values { return {e.add(carried[0], enter(s))}; })[0];
  }

  void expandEither(Value task) {
    if (!byHeads)
      return expandTask(task);
    e.choose(
        byHeads, [&] { expandTask(task); }, [&] { expandToken(task); });
  }

  // Of a single row each block of keys is a task. The newest blocks come first, so that a head's falls to the thread
  // that stored its newest key (see divide-work).
  void expandSplit() {
    Value zero = firstRow = e.index(0), thread = kernel::ThreadOp::create(e.b, e.loc, op.getStep());
    turns = kernel::ThreadsOp::create(e.b, e.loc, op.getStep());
    span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), zero);
    keys.enter(span);
    firstToken = span.getFirstRow();
    rowCount = e.index(group);
    keys.enterRow(zero, position(zero));
    Value begin = e.div(keys.firstSeen(zero), keyBlock), end = keys.endSeen(zero), last = e.ceilDiv(end, keyBlock);
    Value tasks = e.mul(e.max(e.sub(last, begin), zero), keys.layout.heads);
    e.loop(thread, tasks, turns, [&](Value task) {
      head = e.rem(task, keys.layout.heads);
      Value index = e.sub(e.sub(last, e.index(1)), e.div(task, keys.layout.heads)), first = e.mul(index, keyBlock);
      prepare();
      expandBlock(first, e.min(e.index(keyBlock), e.sub(end, first)));
      leavePart(index);
    });
  }

  // Whether each head of the sequence is a task, or more: it has several rows, or keys in several slots, or there are
  // too few sequences to keep all threads busy otherwise. Null: always.
  Value dealsHeads() {
    constexpr int64_t spansPerThread = 4;
    StateRole role = cast<StateType>(op.getState().getType()).getRole();
    if (oneRow || role == StateRole::step || group > tileRows)
      return {};
    Value several = e.less(e.index(1), span.getRows()), few = e.less(spans, e.mul(turns, spansPerThread));
    Value either = arith::OrIOp::create(e.b, e.loc, several, few);
    if (Value shared = keys.isShared())
      either = arith::OrIOp::create(e.b, e.loc, either, shared);
    return either;
  }

  // Of a single token several heads are one task. All of them see the same keys.
  void expandToken(Value task) {
    head = e.mul(task, tokenHeads);
    firstRow = e.index(0);
    rowCount = e.index(tokenHeads * group);
    ofToken = true;
    prepare();
    eachBlock([&](Value first, Value count) {
      firstKey = first;
      softmax.beginBlock(first);
      auto [from, to] = seenBlock(firstRow, firstRow, e.index(0), count);
      e.when(e.less(from, to), [&, from = from, to = to] {
        computeScoresOfHeads(from, to);
        eachTile(e.index(0), rowCount, e.index(0), count,
                 [&](int64_t n, Value row, Value from, Value to) { softmax.weigh(n, row, from, to, bias()); });
        addValuesOfHeads(from, to);
      });
      softmax.endBlock();
    });
    ofToken = false;
  }

  // Runs body for heads of the token side by side: so many that eight chains of multiply-adds, if there are as many
  // heads, hide their latency.
  void eachHeads(int64_t vectors, llvm::function_ref<void(ArrayRef<TileRows>)> body) {
    constexpr int64_t chains = 8;
    int64_t beside = headsOfToken(tokenHeads, chains / (group * vectors));
    e.loop(e.index(0), e.index(tokenHeads), beside, [&](Value first) {
      SmallVector<TileRows> heads;
      for (int64_t i = 0; i < beside; ++i) {
        Value h = e.add(first, i);
        heads.push_back({e.mul(h, group), keys.inSlot(e.add(head, h), firstKey)});
      }
      body(heads);
    });
  }

  void computeScoresOfHeads(Value from, Value to) {
    eachHeads(tiles.perPanel(), [&](ArrayRef<TileRows> heads) {
      Emitter::Values queries = queriesOf(heads, group);
      e.loop(e.div(from, kernel::panelLanes), e.ceilDiv(to, kernel::panelLanes), 1,
             [&](Value panel) { tiles.computeScores(heads, queries, panel, tiles.perPanel()); });
    });
  }

  void addValuesOfHeads(Value from, Value to) {
    tiles.eachColumns(group, [&](Value column, int64_t vectors) {
      eachHeads(vectors, [&](ArrayRef<TileRows> heads) { tiles.addValues(heads, group, column, vectors, from, to); });
    });
  }

  void leavePart(Value index) {
    kernel::PartsLayout layout(op.getHeads(), width);
    e.loop(e.index(0), rowCount, 1, [&](Value row) {
      Value at = queryHead(head, row);
      e.columns(paddedWidth, [&](Value column, Value) {
        e.store(e.load(tiles.part, {row, column}), op.getInit(), {index, e.add(e.mul(at, paddedWidth), column)});
      });
      e.storeScalar(softmax.blockMaximum(row), op.getInit(), {index, e.add(at, layout.maxima)});
      e.storeScalar(softmax.blockSum(row), op.getInit(), {index, e.add(at, layout.sums)});
    });
  }

  void makeScratch() { output = online ? e.stackBuffer({rowBlock, paddedWidth}) : tiles.part; }

  void expandTask(Value task) {
    head = e.div(task, blocks);
    firstRow = e.mul(e.rem(task, blocks), rowBlock);
    rowCount = oneRow && group <= rowBlock ? e.index(group) : e.min(e.index(rowBlock), e.sub(rows, firstRow));
    prepare();
    eachBlock([&](Value first, Value count) { expandBlock(first, count); });
  }

  // Runs body(first key, keys) for the blocks that some row of the task sees, and writes the task's result.
  void eachBlock(llvm::function_ref<void(Value, Value)> body) {
    Value begin = e.mul(e.div(keys.firstSeen(e.index(0)), keyBlock), keyBlock);
    Value end = keys.endSeen(e.sub(rowCount, e.index(1)));
    e.loop(begin, end, keyBlock, [&](Value first) {
      if (online)
        e.when(e.less(begin, first), [&] { takeInPart(e.less(e.add(begin, keyBlock), first)); });
      body(first, e.min(e.index(keyBlock), e.sub(end, first)));
    });
    finish(online ? e.less(e.add(begin, keyBlock), end) : Value());
  }

  void expandBlock(Value first, Value count) {
    firstKey = first;
    block = keys.find(head, firstKey, count);
    auto eachChunk = [&](llvm::function_ref<void(int64_t, Value, Value, Value)> body) {
      e.loop(e.index(0), count, chunk,
             [&](Value from) { eachTile(e.index(0), rowCount, from, e.min(count, e.add(from, chunk)), body); });
    };
    softmax.beginBlock(firstKey);
    eachChunk([&](int64_t n, Value row, Value from, Value to) { computeScores(n, row, from, to); });
    eachTile(e.index(0), rowCount, e.index(0), count,
             [&](int64_t n, Value row, Value from, Value to) { softmax.weigh(n, row, from, to, bias()); });
    eachChunk([&](int64_t n, Value row, Value from, Value to) { addValues(n, row, from, to); });
    if (!op.getBlock())
      softmax.endBlock();
  }

  // Where row `row` of the task lies: (row of the step, first feature of its head); its position.
  std::pair<Value, Value> place(Value head, Value row) {
    return {ofToken ? firstToken : e.add(firstToken, e.div(row, group)), e.mul(queryHead(head, row), width)};
  }
  Value queryHead(Value head, Value row) { return e.add(e.mul(head, group), ofToken ? row : e.rem(row, group)); }
  Value position(Value row) {
    if (ofToken)
      return span.getFirstPosition();
    Value token = e.add(firstToken, e.div(e.add(firstRow, row), group));
    return e.add(span.getFirstPosition(), e.sub(token, span.getFirstRow()));
  }

  void prepare() {
    softmax.beginTask(rowCount);
    e.loop(e.index(0), rowCount, 1, [&](Value row) {
      e.columns(paddedWidth, [&](Value column, Value) { e.store(e.splat(0), tiles.part, {row, column}); });
      keys.enterRow(row, position(row));
    });
  }

  // The part of the block's keys [begin, end), counted from its first, that some of the rows see: [from, to), from
  // being rounded down to a panel.
  std::pair<Value, Value> seenBlock(Value firstRow, Value lastRow, Value begin, Value end) {
    Value from = begin, to = e.min(end, e.sub(keys.endSeen(lastRow), firstKey));
    if (op.getWindow() > 0) {
      Value seen = e.max(e.sub(keys.firstSeen(firstRow), firstKey), begin);
      from = e.mul(e.div(seen, kernel::panelLanes), kernel::panelLanes);
    }
    return {from, to};
  }

  // Runs body(rows, first row, from, to) for the tiles of some rows of the task that see some of the block's keys
  // [begin, end); from and to as above.
  void eachTile(Value first, Value count, Value begin, Value end,
                llvm::function_ref<void(int64_t, Value, Value, Value)> body) {
    auto visit = [&](int64_t n, Value row) {
      auto [from, to] = seenBlock(row, e.add(row, n - 1), begin, end);
      e.when(e.less(from, to), [&, from = from, to = to] { body(n, row, from, to); });
    };
    std::optional<int64_t> known = getConstantIntValue(count);
    Value whole = known ? e.index(*known / tileRows * tileRows) : e.mul(e.div(count, tileRows), tileRows);
    Value rest = e.add(first, whole);
    if (!known || *known >= tileRows)
      e.loop(first, rest, tileRows, [&](Value row) { visit(tileRows, row); });
    if (!known)
      e.dispatch(e.sub(count, whole), 1, tileRows - 1, [&](int64_t n) { visit(n, rest); });
    else if (*known % tileRows > 0)
      visit(*known % tileRows, rest);
  }

  // The queries of n rows each, [width].
  Emitter::Values queriesOf(ArrayRef<TileRows> rows, int64_t n) {
    Emitter::Values queries;
    for (const TileRows &those : rows)
      for (int64_t r = 0; r < n; ++r)
        queries.push_back(queryOf(e.add(those.first, r)));
    return queries;
  }

  Value queryOf(Value row) {
    auto [source, feature] = place(head, e.add(firstRow, row));
    OpFoldResult one = e.b.getIndexAttr(1);
    SmallVector<OpFoldResult> offsets = {source, feature}, sizes = {one, e.b.getIndexAttr(width)}, strides = {one, one};
    auto type = memref::SubViewOp::inferRankReducedResultType({width}, cast<MemRefType>(op.getQueries().getType()),
                                                              offsets, sizes, strides);
    return memref::SubViewOp::create(e.b, e.loc, cast<MemRefType>(type), op.getQueries(), offsets, sizes, strides);
  }

  // S[row, key] = queries[row, :] * K[:, key] for whole panels that cover the keys [from, to)
  void computeScores(int64_t n, Value row, Value from, Value to) {
    Value first = e.div(from, kernel::panelLanes), end = e.ceilDiv(to, kernel::panelLanes);
    TileRows rows = {row, block};
    Emitter::Values queries = queriesOf(rows, n);
    EvenParts parts(e, e.sub(end, first), std::min(tiles.widestTile(n), keyBlock / kernel::panelLanes));
    parts.each(e, [&](Value, Value panel, int64_t count) {
      tiles.computeScores(rows, queries, e.add(first, panel), count * tiles.perPanel());
    });
  }

  // What the bias adds to the scores of the keys from `column` on; only visible ones have a place in it. A query is no
  // further from the first key than L - 1, so that none begins before the bias's row.
  AttentionSoftmax::Bias bias() {
    if (!op.getBias())
      return nullptr;
    return [&](Value row, Value column, Value seen) {
      int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
      Value at = e.sub(e.add(e.add(firstKey, column), middle), position(row));
      return e.load(op.getBias(), {queryHead(head, e.add(firstRow, row)), at}, seen);
    };
  }

  // P[row, :] += S[row, from:to] * V[from:to, :]
  void addValues(int64_t n, Value row, Value from, Value to) {
    tiles.eachColumns(n, [&](Value column, int64_t vectors) {
      tiles.addValues({{row, block}}, n, column, vectors, from, to);
    });
  }

  // O = O and P brought together; P begins anew. Before the second block there is no O yet.
  void takeInPart(Value hasOutput) {
    e.loop(e.index(0), rowCount, 1, [&](Value row) {
      e.columns(paddedWidth, [&](Value column, Value) {
        Value before = e.load(output, {row, column}), found = e.load(tiles.part, {row, column});
        e.store(e.select(hasOutput, softmax.takeIn(row, before, found), found), output, {row, column});
        e.store(e.splat(0), tiles.part, {row, column});
      });
    });
  }

  // out = O / sum, zero for a row that saw no key. The last block is taken in here; a single one needs no O.
  void finish(Value severalBlocks) {
    softmax.endTask();
    auto store = [&](bool several) {
      e.loop(e.index(0), rowCount, 1, [&](Value row) {
        auto [target, feature] = place(head, e.add(firstRow, row));
        Value inverse = softmax.inverse(row);
        e.columns(width, [&, target = target, feature = feature](Value column, Value mask) {
          Value sum = e.load(tiles.part, {row, column});
          if (several)
            sum = softmax.takeIn(row, e.load(output, {row, column}), sum);
          e.store(e.mulf(sum, inverse), op.getInit(), {target, e.add(feature, column)}, mask);
        });
      });
    };
    if (online)
      e.choose(
          severalBlocks, [&] { store(true); }, [&] { store(false); });
    else
      store(false);
  }

  kernel::AttentionOp op;
  Emitter e;
  const int64_t keyBlock, rowBlock;
  const bool online;  // a row may see several blocks
  AttentionKeys keys;
  AttentionSoftmax softmax;
  AttentionTiles tiles;
  const int64_t width, paddedWidth, group, chunk;
  const bool oneRow;
  Value output;                    // scratch of this thread: O
  Value turns;                     // of a single row a thread takes every so-manieth task
  Value spans;                     // how many sequences there are
  kernel::SpanOp span;             // the sequence
  Value firstToken, rows, blocks;  // its first token, its rows m, and blocks of them
  Value byHeads;                   // whether each of its heads is a task, or more; null: it is
  Value head, firstRow, rowCount;  // the task
  Value firstKey;                  // the block
  KeyBlock block;
  const int64_t tokenHeads;  // of a single token: key-value heads of a task
  bool ofToken = false;      // the task's rows are heads of one token
};

struct ExpandAttention : talc::impl::ExpandAttentionBase<ExpandAttention> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::AttentionOp> ops;
    SmallVector<kernel::CombineOp> combines;
    getOperation().walk([&](kernel::AttentionOp op) { ops.push_back(op); });
    getOperation().walk([&](kernel::CombineOp op) { combines.push_back(op); });
    for (kernel::CombineOp op : combines) {
      OpBuilder builder(op);
      expandCombine(builder, op, lanes);
      op.erase();
    }
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
