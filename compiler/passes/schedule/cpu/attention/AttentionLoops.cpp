// SPDX-License-Identifier: Apache-2.0
// What every strategy of attention is made of.
//
//   O = 0
//   for each block of keys, counted from position 0, that some row of the task sees
//     S, P of the block                what a strategy does, tile by tile
//     O = O and P, brought to the larger maximum
//   out = O / sum
//
//         keys ->   block 0     block 1     block 2         a row sees the keys up to its position (causal), from its
//   row 0           ########    ##                          window on, or all; a tile works on the keys that some of
//   row 1           ########    ###                         its rows see, rounded to panels, and what a row does not
//   row 2           ########    ####                        see weighs zero
//
// If the rows see only one block, O is P and nothing is rescaled. Tokens that are kept beside a window are a
// block in front of all others, which other queries meet.
#include "compiler/passes/schedule/cpu/attention/AttentionLoops.h"

#include "compiler/passes/schedule/attention/ZeroKeys.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

AttentionLoops::AttentionLoops(Emitter &e, kernel::AttentionOp op, const AttentionPlan &schedule)
    : op(op), e(e), schedule(schedule), keys(e, op, schedule.keys, schedule.rows),
      softmax(e, keys, op, schedule.rows, schedule.keys, online()), tiles(e, keys, softmax, schedule.rows),
      width(keys.layout.width), paddedWidth(keys.layout.paddedWidth), group(op.getHeads() / keys.layout.heads),
      output(online() ? e.stackBuffer({schedule.rows, keys.layout.paddedWidth}) : tiles.part) {}

void AttentionLoops::begin(const TaskRows &rows, bool clears) {
  softmax.beginTask(rows.count);
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    if (clears)
      e.columns(paddedWidth, [&](Value column, Value) { e.store(e.splat(0), tiles.part, {row, column}); });
    keys.enterRow(row, rows.position(row));
  });
}

// Leaves the rows as they are for the window.
void AttentionLoops::keptBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body) {
  auto enter = [&] { e.loop(e.index(0), rows.count, 1, [&](Value row) { keys.enterRow(row, rows.position(row)); }); };
  keys.beginSinkRange();
  enter();
  body(e.index(0), keys.endSeen(e.sub(rows.count, e.index(1))));
  keys.endSinkRange();
  enter();
}

void AttentionLoops::eachBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body) {
  Value several = walkBlocks(rows, [&](Value first, Value count, Value) { body(first, count); });
  endTask(rows);
  if (!several)
    return storeResult(rows, false);
  e.choose(
      several, [&] { storeResult(rows, true); }, [&] { storeResult(rows, false); });
}

// Of its own sequence a row sees itself at least; what others have may be nothing, and of kept tokens that are beside a
// window there is no only block.
bool AttentionLoops::leavesOnly() {
  return keys.layout.sinkTokens == 0 && (!readsSource() || op.getWindow() == 0);
}

bool AttentionLoops::readsSource() {
  return cast<KvCacheType>(op.getCache().getType()).getRole() == KvCacheRole::source;
}

void AttentionLoops::eachBlockOrOnly(const TaskRows &rows, llvm::function_ref<void(Value, Value, Value)> body) {
  if (!leavesOnly())
    return eachBlock(rows, [&](Value first, Value count) { body(first, count, nullptr); });
  if (readsSource())
    e.when(e.less(keys.endSeen(e.index(0)), e.index(1)), [&] { clearResult(rows); });
  Value several = walkBlocks(rows, body);
  if (several)
    e.when(several, [&] {
      endTask(rows);
      storeResult(rows, true);
    });
}

// Whether there were several, an i1; null: never.
Value AttentionLoops::walkBlocks(const TaskRows &rows, llvm::function_ref<void(Value, Value, Value)> body) {
  int64_t size = schedule.keys;
  bool kept = keys.layout.sinkTokens > 0;
  if (kept)
    keptBlock(rows, [&](Value first, Value count) { body(first, count, nullptr); });
  Value begin = e.mul(e.div(keys.firstSeen(e.index(0)), size), size);
  Value end = keys.endSeen(e.sub(rows.count, e.index(1)));
  Value several = online() ? e.less(kept ? begin : e.add(begin, size), end) : Value();
  Value only =
      several ? arith::XOrIOp::create(e.b, e.loc, several, constantBool(e, true)).getResult() : constantBool(e, true);
  e.loop(begin, end, size, [&](Value first) {
    if (kept)
      takeInPart(rows, e.less(begin, first));
    else if (online())
      e.when(e.less(begin, first), [&] { takeInPart(rows, e.less(e.add(begin, size), first)); });
    body(first, e.min(e.index(size), e.sub(end, first)), only);
  });
  return several;
}

std::pair<Value, Value> AttentionLoops::seenOf(Value firstRow, Value lastRow, Value firstKey, Value begin, Value end) {
  Value from = begin, to = e.min(end, e.sub(keys.endSeen(lastRow), firstKey));
  if (op.getWindow() > 0) {
    Value seen = e.max(e.sub(keys.firstSeen(firstRow), firstKey), begin);
    from = e.mul(e.div(seen, keys.layout.tokens), keys.layout.tokens);
  }
  return {from, to};
}

void AttentionLoops::eachTile(const TaskRows &rows, Value firstKey, Value begin, Value end,
                              llvm::function_ref<void(int64_t, Value, Value, Value)> body) {
  auto visit = [&](int64_t n, Value row) {
    auto [from, to] = seenOf(row, e.add(row, n - 1), firstKey, begin, end);
    e.when(e.less(from, to), [&, from = from, to = to] { body(n, row, from, to); });
  };
  std::optional<int64_t> known = getConstantIntValue(rows.count);
  Value whole = known ? e.index(*known / registerTileRows * registerTileRows)
                      : e.mul(e.div(rows.count, registerTileRows), registerTileRows);
  if (!known || *known >= registerTileRows)
    e.loop(e.index(0), whole, registerTileRows, [&](Value row) { visit(registerTileRows, row); });
  if (!known)
    e.dispatch(e.sub(rows.count, whole), 1, registerTileRows - 1, [&](int64_t n) { visit(n, whole); });
  else if (*known % registerTileRows > 0)
    visit(*known % registerTileRows, whole);
}

Emitter::Values AttentionLoops::queriesOf(const TaskRows &rows, ArrayRef<TileRows> entries, int64_t n) {
  Values queries;
  for (const TileRows &entry : entries)
    for (int64_t r = 0; r < n; ++r)
      queries.push_back(queryOf(rows, e.add(entry.first, r)));
  return queries;
}

Value AttentionLoops::queryOf(const TaskRows &rows, Value row) {
  Value token = rows.token(row), feature = e.mul(rows.queryHead(row), width);
  Value queries = keys.isSinkRange() ? op.getSinkQueries() : op.getQueries();
  OpFoldResult one = e.b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {token, feature}, sizes = {one, e.b.getIndexAttr(width)}, strides = {one, one};
  auto type = memref::SubViewOp::inferRankReducedResultType({width}, cast<MemRefType>(queries.getType()), offsets,
                                                            sizes, strides);
  return memref::SubViewOp::create(e.b, e.loc, cast<MemRefType>(type), queries, offsets, sizes, strides);
}

void AttentionLoops::weighScores(const TaskRows &rows, Value firstKey, Value count) {
  eachTile(rows, firstKey, e.index(0), count,
           [&](int64_t n, Value row, Value from, Value to) { softmax.weigh(n, row, from, to, bias(rows, firstKey)); });
}

// What the bias adds to the scores of the keys from `column` on; only visible ones have a place in it. A query is no
// further from the first key than L - 1, so that none begins before the bias's row.
AttentionSoftmax::Bias AttentionLoops::bias(const TaskRows &rows, Value firstKey) {
  if (op.getRowBias())
    return rowBias(rows, firstKey);
  if (!op.getBias())
    return nullptr;
  return [this, &rows, firstKey](Value row, Value column, Value seen) {
    Value at = e.add(firstKey, column);
    if (!op.getAbsolute()) {
      int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
      at = e.sub(e.add(at, middle), rows.position(row));
    }
    return e.load(op.getBias(), {rows.queryHead(row), at}, seen);
  };
}

// Attention, what queries bring along themselves: a bias for every distance of a key.
//
//   row of a head:   | D-1 and more | D-2 | ... | 1 | 0 |      a query at position p meets the key j in column
//                    0                               D-1       D - 1 - (p - j), and columns before the first are the
//                    first
//
// Columns ascend with keys, so that a vector of keys loads a vector of columns.
AttentionSoftmax::Bias AttentionLoops::rowBias(const TaskRows &rows, Value firstKey) {
  return [this, &rows, firstKey](Value row, Value column, Value seen) {
    int64_t distances = biasDistances(op), window = op.getWindow();
    Value token = rows.token(row), first = e.mul(rows.queryHead(row), distances);
    Value at = e.sub(e.add(e.add(firstKey, column), distances - 1), rows.position(row));
    if (window > 0 && window <= distances)
      return e.load(op.getRowBias(), {token, e.add(first, at)}, seen);
    Value further = e.firstLanes(e.max(e.sub(e.index(0), at), e.index(0))), all = e.firstLanes(e.lanes);
    Value near = arith::XOrIOp::create(e.b, e.loc, further, all);
    Value loaded = e.load(op.getRowBias(), {token, e.add(first, at)},
                          seen ? arith::AndIOp::create(e.b, e.loc, near, seen).getResult() : near);
    return e.select(further, e.broadcast(e.loadScalar(op.getRowBias(), {token, first})), loaded);
  };
}

// O = O and P brought together; P begins anew. Before the second block there is no O yet.
void AttentionLoops::takeInPart(const TaskRows &rows, Value hasOutput) {
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    e.columns(paddedWidth, [&](Value column, Value) {
      Value before = e.load(output, {row, column}), found = e.load(tiles.part, {row, column});
      e.store(e.select(hasOutput, softmax.takeIn(row, before, found), found), output, {row, column});
      e.store(e.splat(0), tiles.part, {row, column});
    });
  });
}

SoftmaxState AttentionLoops::sink(const TaskRows &rows, Value row) {
  Value score = e.broadcast(e.loadScalar(op.getSinks(), {rows.queryHead(row)}));
  return {e.lane(e.mulf(score, e.splat(llvm::numbers::log2e)), 0), e.lane(e.splat(1), 0)};
}

SoftmaxState AttentionLoops::zeroKeysOf(const TaskRows &rows, Value row) {
  SoftmaxState found = zeroKeys(e, op, rows.token(row), rows.queryHead(row), rows.position(row));
  return {e.lane(found.maximum, 0), e.lane(found.sum, 0)};
}

void AttentionLoops::endTask(const TaskRows &rows) {
  if (op.getSinks())
    softmax.endTask([&](Value row) { return sink(rows, row); });
  else if (op.getZeroStart())
    softmax.endTask([&](Value row) { return zeroKeysOf(rows, row); });
  else
    softmax.endTask(nullptr);
}

void AttentionLoops::endOnly(const TaskRows &rows, Value only) {
  if (only)
    e.when(only, [&] { endTask(rows); });
}

void AttentionLoops::storeResult(const TaskRows &rows, Value row, Value column, Value sums) {
  Value mask = width == paddedWidth ? Value() : e.firstLanes(e.max(e.sub(e.index(width), column), e.index(0)));
  Value token = rows.token(row), feature = e.mul(rows.queryHead(row), width);
  e.store(e.mulf(sums, softmax.inverse(row)), op.getInit(), {token, e.add(feature, column)}, mask);
}

void AttentionLoops::clearResult(const TaskRows &rows) {
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    Value token = rows.token(row), feature = e.mul(rows.queryHead(row), width);
    e.columns(width, [&](Value column, Value mask) {
      e.store(e.splat(0), op.getInit(), {token, e.add(feature, column)}, mask);
    });
  });
}

// out = O / sum, zero for a row that saw no key. The last block is taken in here; a single one needs no O.
void AttentionLoops::storeResult(const TaskRows &rows, bool severalBlocks) {
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    Value token = rows.token(row), feature = e.mul(rows.queryHead(row), width), inverse = softmax.inverse(row);
    e.columns(width, [&](Value column, Value mask) {
      Value sum = e.load(tiles.part, {row, column});
      if (severalBlocks)
        sum = softmax.takeIn(row, e.load(output, {row, column}), sum);
      e.store(e.mulf(sum, inverse), op.getInit(), {token, e.add(feature, column)}, mask);
    });
  });
}

int64_t largestDivisor(int64_t count, int64_t most) {
  int64_t divisor = std::clamp<int64_t>(most, 1, count);
  while (count % divisor != 0)
    --divisor;
  return divisor;
}

}  // namespace talc
