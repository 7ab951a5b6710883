// SPDX-License-Identifier: Apache-2.0
// Loops that all strategies of attention share.
//
//   O = 0
//   for each block of keys, counted from position 0, that some row of the task sees
//     S, P of the block                by the strategy, tile by tile
//     O = O and P, merged: rescaled to the larger maximum
//   out = O / sum
//
//         keys ->   block 0     block 1     block 2         a row sees the keys up to its position (causal), from its
//   row 0           ########    ##                          window on, or all; a tile works on the keys that some of
//   row 1           ########    ###                         its rows see, rounded to panels, and keys that a row does
//   row 2           ########    ####                        not see have the weight 0
//
// If the rows see only one block, O is P and nothing is rescaled. Sink tokens, which are kept beside a window, are a
// block before all others, with queries of their own.
#include "compiler/passes/schedule/cpu/attention/AttentionLoops.h"

#include "compiler/passes/schedule/attention/OnlineSoftmax.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"
#include "compiler/passes/schedule/cpu/tasks/WorkStealing.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

AttentionLoops::AttentionLoops(Emitter &e, kernel::AttentionOp op, const AttentionPlan &schedule)
    : op(op), e(e), schedule(schedule), keys(e, op, schedule.keys, schedule.rows),
      softmax(e, keys, op, schedule.rows, schedule.keys, online()), tiles(e, keys, softmax, schedule.rows),
      width(keys.layout.width), paddedWidth(keys.layout.paddedWidth), group(op.getHeads() / keys.layout.heads),
      output(online() ? e.stackBuffer({schedule.rows, keys.layout.paddedWidth}) : tiles.partial) {}

void AttentionLoops::begin(const TaskRows &rows, bool clears) {
  softmax.beginTask(rows.count);
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    if (clears)
      e.columns(paddedWidth, [&](Value column, Value) { e.store(e.splat(0), tiles.partial, {row, column}); });
    keys.enterRow(row, rows.position(row));
  });
}

// Afterwards the rows are those of the window again.
void AttentionLoops::forSinkBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body) {
  auto enter = [&] { e.loop(e.index(0), rows.count, 1, [&](Value row) { keys.enterRow(row, rows.position(row)); }); };
  keys.beginSinkRange();
  enter();
  body(e.index(0), keys.visibleEnd(e.sub(rows.count, e.index(1))));
  keys.endSinkRange();
  enter();
}

void AttentionLoops::forEachBlock(const TaskRows &rows, llvm::function_ref<void(Value, Value)> body) {
  Value several = walkBlocks(rows, [&](Value first, Value count, Value) { body(first, count); });
  endTask(rows);
  if (!several)
    return storeResult(rows, false);
  e.choose(
      several, [&] { storeResult(rows, true); }, [&] { storeResult(rows, false); });
}

// In self-attention a row sees at least itself; a source may have no keys in a window. With sink tokens there are
// always two blocks.
bool AttentionLoops::mayStoreOnlyBlock() {
  return keys.layout.sinkTokens == 0 && (!isCrossAttention() || op.getWindow() == 0);
}

bool AttentionLoops::isCrossAttention() {
  return cast<KvCacheType>(op.getCache().getType()).getRole() == KvCacheRole::source;
}

void AttentionLoops::forEachBlockOrOnly(const TaskRows &rows, llvm::function_ref<void(Value, Value, Value)> body) {
  if (!mayStoreOnlyBlock())
    return forEachBlock(rows, [&](Value first, Value count) { body(first, count, nullptr); });
  if (isCrossAttention())
    e.when(e.less(keys.visibleEnd(e.index(0)), e.index(1)), [&] { clearResult(rows); });
  Value several = walkBlocks(rows, body);
  if (several)
    e.when(several, [&] {
      endTask(rows);
      storeResult(rows, true);
    });
}

// Returns whether there were several blocks, an i1; null: never.
Value AttentionLoops::walkBlocks(const TaskRows &rows, llvm::function_ref<void(Value, Value, Value)> body) {
  int64_t size = schedule.keys;
  bool hasSinks = keys.layout.sinkTokens > 0;
  if (hasSinks)
    forSinkBlock(rows, [&](Value first, Value count) { body(first, count, nullptr); });
  Value begin = e.mul(e.div(keys.firstVisible(e.index(0)), size), size);
  Value end = keys.visibleEnd(e.sub(rows.count, e.index(1)));
  Value several = online() ? e.less(hasSinks ? begin : e.add(begin, size), end) : Value();
  Value only =
      several ? arith::XOrIOp::create(e.b, e.loc, several, constantBool(e, true)).getResult() : constantBool(e, true);
  e.loop(begin, end, size, [&](Value first) {
    if (hasSinks)
      mergePartial(rows, e.less(begin, first));
    else if (online())
      e.when(e.less(begin, first), [&] { mergePartial(rows, e.less(e.add(begin, size), first)); });
    body(first, e.min(e.index(size), e.sub(end, first)), only);
  });
  return several;
}

std::pair<Value, Value> AttentionLoops::visibleRange(Value firstRow, Value lastRow, Value firstKey, Value begin,
                                                     Value end) {
  Value from = begin, to = e.min(end, e.sub(keys.visibleEnd(lastRow), firstKey));
  if (op.getWindow() > 0) {
    Value visibleBegin = e.max(e.sub(keys.firstVisible(firstRow), firstKey), begin);
    from = e.mul(e.div(visibleBegin, keys.layout.tokens), keys.layout.tokens);
  }
  return {from, to};
}

void AttentionLoops::forEachTile(const TaskRows &rows, Value firstKey, Value begin, Value end,
                                 llvm::function_ref<void(int64_t, Value, Value, Value)> body) {
  auto visit = [&](int64_t n, Value row) {
    auto [from, to] = visibleRange(row, e.add(row, n - 1), firstKey, begin, end);
    e.when(e.less(from, to), [&, from = from, to = to] { body(n, row, from, to); });
  };
  std::optional<int64_t> staticCount = getConstantIntValue(rows.count);
  Value wholeTiles = staticCount ? e.index(*staticCount / registerTileRows * registerTileRows)
                                 : e.mul(e.div(rows.count, registerTileRows), registerTileRows);
  if (!staticCount || *staticCount >= registerTileRows)
    e.loop(e.index(0), wholeTiles, registerTileRows, [&](Value row) { visit(registerTileRows, row); });
  if (!staticCount)
    e.dispatch(e.sub(rows.count, wholeTiles), 1, registerTileRows - 1, [&](int64_t n) { visit(n, wholeTiles); });
  else if (*staticCount % registerTileRows > 0)
    visit(*staticCount % registerTileRows, wholeTiles);
}

Emitter::Values AttentionLoops::queryViews(const TaskRows &rows, ArrayRef<QueryTile> entries, int64_t n) {
  Values queries;
  for (const QueryTile &entry : entries)
    for (int64_t r = 0; r < n; ++r)
      queries.push_back(queryView(rows, e.add(entry.first, r)));
  return queries;
}

Value AttentionLoops::queryView(const TaskRows &rows, Value row) {
  Value token = rows.token(row), feature = e.mul(rows.queryHead(row), width);
  Value queries = keys.isSinkRange() ? op.getSinkQueries() : op.getQueries();
  OpFoldResult one = e.b.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets = {token, feature}, sizes = {one, e.b.getIndexAttr(width)}, strides = {one, one};
  auto type = memref::SubViewOp::inferRankReducedResultType({width}, cast<MemRefType>(queries.getType()), offsets,
                                                            sizes, strides);
  return memref::SubViewOp::create(e.b, e.loc, cast<MemRefType>(type), queries, offsets, sizes, strides);
}

void AttentionLoops::applySoftmax(const TaskRows &rows, Value firstKey, Value count) {
  forEachTile(rows, firstKey, e.index(0), count, [&](int64_t n, Value row, Value from, Value to) {
    softmax.applySoftmax(n, row, from, to, bias(rows, firstKey));
  });
}

// Loads the bias of the keys from `column` on; only visible keys have one. A query is at most L - 1 from the first key,
// so that no vector begins before the row of the bias.
AttentionSoftmax::Bias AttentionLoops::bias(const TaskRows &rows, Value firstKey) {
  if (op.getRowBias())
    return rowBias(rows, firstKey);
  if (!op.getBias())
    return nullptr;
  return [this, &rows, firstKey](Value row, Value column, Value visible) {
    Value at = e.add(firstKey, column);
    if (!op.getAbsolute()) {
      int64_t middle = cast<ShapedType>(op.getBias().getType()).getDimSize(1) / 2;
      at = e.sub(e.add(at, middle), rows.position(row));
    }
    return e.load(op.getBias(), {rows.queryHead(row), at}, visible);
  };
}

// A bias that comes with queries, for every distance of a key:
//
//   row of a head:   | D-1 and more | D-2 | ... | 1 | 0 |      a query at position p meets the key j in column
//                    0                               D-1       D - 1 - (p - j), and columns before the first are the
//                    first
//
// Columns ascend with keys, so that a vector of keys loads a vector of columns.
AttentionSoftmax::Bias AttentionLoops::rowBias(const TaskRows &rows, Value firstKey) {
  return [this, &rows, firstKey](Value row, Value column, Value visible) {
    int64_t distances = biasDistances(op), window = op.getWindow();
    Value token = rows.token(row), first = e.mul(rows.queryHead(row), distances);
    Value at = e.sub(e.add(e.add(firstKey, column), distances - 1), rows.position(row));
    if (window > 0 && window <= distances)
      return e.load(op.getRowBias(), {token, e.add(first, at)}, visible);
    Value further = e.firstLanes(e.max(e.sub(e.index(0), at), e.index(0))), all = e.firstLanes(e.lanes);
    Value near = arith::XOrIOp::create(e.b, e.loc, further, all);
    Value loaded = e.load(op.getRowBias(), {token, e.add(first, at)},
                          visible ? arith::AndIOp::create(e.b, e.loc, near, visible).getResult() : near);
    return e.select(further, e.broadcast(e.loadScalar(op.getRowBias(), {token, first})), loaded);
  };
}

// O = O and P merged; P is cleared. O is undefined before the second block.
void AttentionLoops::mergePartial(const TaskRows &rows, Value hasOutput) {
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    e.columns(paddedWidth, [&](Value column, Value) {
      Value before = e.load(output, {row, column}), partial = e.load(tiles.partial, {row, column});
      e.store(e.select(hasOutput, softmax.merge(row, before, partial), partial), output, {row, column});
      e.store(e.splat(0), tiles.partial, {row, column});
    });
  });
}

SoftmaxState AttentionLoops::sink(const TaskRows &rows, Value row) {
  Value score = e.broadcast(e.loadScalar(op.getSinks(), {rows.queryHead(row)}));
  return {e.lane(e.mulf(score, e.splat(llvm::numbers::log2e)), 0), e.lane(e.splat(1), 0)};
}

SoftmaxState AttentionLoops::zeroKeyState(const TaskRows &rows, Value row) {
  SoftmaxState state = zeroKeys(e, op, rows.token(row), rows.queryHead(row), rows.position(row));
  return {e.lane(state.maximum, 0), e.lane(state.sum, 0)};
}

void AttentionLoops::endTask(const TaskRows &rows) {
  if (op.getSinks())
    softmax.endTask([&](Value row) { return sink(rows, row); });
  else if (op.getZeroStart())
    softmax.endTask([&](Value row) { return zeroKeyState(rows, row); });
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

// out = O / sum, zero for a row that saw no key. The last block is merged here; a single one needs no O.
void AttentionLoops::storeResult(const TaskRows &rows, bool severalBlocks) {
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    Value token = rows.token(row), feature = e.mul(rows.queryHead(row), width), inverse = softmax.inverse(row);
    e.columns(width, [&](Value column, Value mask) {
      Value sum = e.load(tiles.partial, {row, column});
      if (severalBlocks)
        sum = softmax.merge(row, e.load(output, {row, column}), sum);
      e.store(e.mulf(sum, inverse), op.getInit(), {token, e.add(feature, column)}, mask);
    });
  });
}

int64_t largestDivisor(int64_t count, int64_t limit) {
  int64_t divisor = std::clamp<int64_t>(limit, 1, count);
  while (count % divisor != 0)
    --divisor;
  return divisor;
}

}  // namespace talc
