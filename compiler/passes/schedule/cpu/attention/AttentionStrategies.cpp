// SPDX-License-Identifier: Apache-2.0
// The strategies of attention: how the task of an op is computed.
//
//   rows of a head      the general one: query rows of one key-value head, in tiles
//   heads of a token    a sequence of one row in a step of many: several heads side by side
//   group of a token    the same, if queries share heads: those of a head are one tile
//   block of a row      flash decoding: a block of a single row's keys, whose partial result kernel.combine merges
#include "compiler/passes/schedule/cpu/attention/AttentionStrategies.h"

#include "compiler/passes/schedule/cpu/attention/KvPrefetch.h"
#include "compiler/passes/schedule/cpu/matmul/EvenParts.h"

using namespace mlir;

namespace talc {

//===--- rows of a head
//------------------------------------------------------------------------------------------------===//

//   for each chunk of keys:    for each tile of rows:  S = queries * keys      register tiles; keys lie in panels like
//                                                                              a packed weight
//                              for each tile of rows:  S = softmax of S        AttentionSoftmax.h
//   for each chunk of values:  for each tile of rows:  P += S * values         register tiles
//
// All tiles take a chunk of keys, or of values, before the next one is read, so that it stays in L1. A tile's first
// chunk begins P with zeros, and if there is no other block, its last one writes the result: 24 stores beside a
// thousand multiply-adds do not wait for memory, while those of all rows at once would.

namespace {

class RegisterTileProducts final : public HeadProducts {
public:
  explicit RegisterTileProducts(AttentionLoops &loops) : loops(loops), e(loops.e) {}

  void computeScores(const HeadRows &rows, const QueryTile &tile, int64_t n, Value from, Value to) override {
    int64_t tokens = loops.keys.layout.tokens;
    Value first = e.div(from, tokens), end = e.ceilDiv(to, tokens);
    Emitter::Values queries = loops.queryViews(rows, tile, n);
    EvenParts parts(e, e.sub(end, first), std::min(loops.tiles.widestTile(n), loops.schedule.keys / tokens));
    parts.each(e, [&](Value, Value panel, int64_t count) {
      loops.tiles.computeScores(tile, queries, e.add(first, panel), count * loops.tiles.perPanel());
    });
  }

  void addValues(const QueryTile &tile, int64_t n, Value from, Value to, const PartialEnds &ends) override {
    loops.tiles.forEachColumns(n, [&](Value column, int64_t vectors) {
      loops.tiles.addValues(tile, n, column, vectors, from, to, /*fetch=*/nullptr, ends);
    });
  }

  bool hasTokenStrategy() const override { return true; }

private:
  AttentionLoops &loops;
  Emitter &e;
};

}  // namespace

std::unique_ptr<HeadProducts> makeTileProducts(AttentionLoops &loops) {
  return std::make_unique<RegisterTileProducts>(loops);
}

namespace {

// A block of keys that the rows see.
class HeadBlock {
public:
  HeadBlock(AttentionLoops &loops, HeadProducts &products, const HeadRows &rows, Value firstKey, Value count)
      : loops(loops), e(loops.e), products(products), rows(rows), firstKey(firstKey), count(count),
        block(loops.keys.locate(rows.head, firstKey, count)) {}

  void computeWeights() {
    loops.softmax.beginBlock(firstKey);
    forEachChunk([&](int64_t n, Value row, Value from, Value to) {
      products.computeScores(rows, {row, block}, n, from, to);
    });
    loops.applySoftmax(rows, firstKey, count);
  }

  // `only`, an i1: there is no other block, and tiles write the result; null: never.
  void addValues(Value only) {
    forEachChunk([&](int64_t n, Value row, Value from, Value to) {
      auto [begin, end] = loops.visibleRange(row, e.add(row, n - 1), firstKey, e.index(0), count);
      PartialEnds ends = {e.less(from, e.add(begin, 1)), {}};
      if (only) {
        ends.isLast = arith::AndIOp::create(e.b, e.loc, only, e.less(e.sub(end, e.index(1)), to));
        ends.storeFinal = [&](Value row, Value column, Value sums) { loops.storeResult(rows, row, column, sums); };
      }
      products.addValues({row, block}, n, from, to, ends);
    });
  }

private:
  void forEachChunk(llvm::function_ref<void(int64_t, Value, Value, Value)> body) {
    e.loop(e.index(0), count, loops.schedule.chunk, [&](Value from) {
      loops.forEachTile(rows, firstKey, from, e.min(count, e.add(from, loops.schedule.chunk)), body);
    });
  }

  AttentionLoops &loops;
  Emitter &e;
  HeadProducts &products;
  const HeadRows &rows;
  const Value firstKey, count;
  const KvBlock block;
};

}  // namespace

void expandHeadBlock(AttentionLoops &loops, HeadProducts &products, const HeadRows &rows, Value firstKey, Value count) {
  HeadBlock block(loops, products, rows, firstKey, count);
  block.computeWeights();
  block.addValues(/*only=*/nullptr);
}

void expandHeadRows(AttentionLoops &loops, HeadProducts &products, const HeadRows &rows) {
  loops.begin(rows, /*clears=*/!loops.allRowsSeeFirstBlock());
  loops.forEachBlockOrOnly(rows, [&](Value first, Value count, Value only) {
    HeadBlock block(loops, products, rows, first, count);
    block.computeWeights();
    loops.softmax.endBlock();
    loops.endOnly(rows, only);
    block.addValues(only);
  });
}

//===--- heads of a token
//----------------------------------------------------------------------------------------------===//

// For sequences of one token in a step of many tokens, which have little to do for each head.
//
//   rows of the task:  head 0: queries 0 .. group-1 | head 1: queries 0 .. group-1 | ...      all of the same token
//
// All rows see the same keys. The products of several heads go through one loop side by side: their chains of
// multiply-adds hide each other's latency.

namespace {

class TokenHeadRows : public TaskRows {
public:
  TokenHeadRows(Emitter &e, kernel::SpanOp span, Value head, int64_t heads, int64_t group)
      : TaskRows(span, e.index(heads * group)), e(e), head(head), group(group) {}

  Value token(Value) const override { return firstToken; }
  Value position(Value) const override { return firstPosition; }
  Value queryHead(Value row) const override { return e.add(e.mul(head, group), row); }

private:
  Emitter &e;
  const Value head;
  const int64_t group;
};

class TokenHeads {
public:
  TokenHeads(AttentionLoops &loops, kernel::SpanOp span, Value head, int64_t heads)
      : loops(loops), e(loops.e), head(head), heads(heads), group(loops.group),
        rows(loops.e, span, head, heads, loops.group) {}

  void expand() {
    loops.begin(rows);
    loops.forEachBlock(rows, [&](Value first, Value count) {
      loops.softmax.beginBlock(first);
      auto [from, to] = loops.visibleRange(e.index(0), e.index(0), first, e.index(0), count);
      e.when(e.less(from, to), [&, from = from, to = to] {
        computeScores(first, from, to);
        loops.applySoftmax(rows, first, count);
        addValues(first, from, to);
      });
      loops.softmax.endBlock();
    });
  }

private:
  // Runs the body for heads side by side, so many that eight chains of multiply-adds hide their latency, if there are
  // as many heads.
  void forEachHeads(Value firstKey, int64_t vectors, llvm::function_ref<void(ArrayRef<QueryTile>)> body) {
    constexpr int64_t chains = 8;
    int64_t beside = largestDivisor(heads, chains / (group * vectors));
    e.loop(e.index(0), e.index(heads), beside, [&](Value first) {
      SmallVector<QueryTile> tiles;
      for (int64_t i = 0; i < beside; ++i) {
        Value h = e.add(first, i);
        tiles.push_back({e.mul(h, group), loops.keys.viewInSlot(e.add(head, h), firstKey)});
      }
      body(tiles);
    });
  }

  void computeScores(Value firstKey, Value from, Value to) {
    int64_t vectors = loops.tiles.perPanel();
    forEachHeads(firstKey, vectors, [&](ArrayRef<QueryTile> beside) {
      Emitter::Values queries = loops.queryViews(rows, beside, group);
      e.loop(e.div(from, loops.keys.layout.tokens), e.ceilDiv(to, loops.keys.layout.tokens), 1,
             [&](Value panel) { loops.tiles.computeScores(beside, queries, panel, vectors); });
    });
  }

  void addValues(Value firstKey, Value from, Value to) {
    loops.tiles.forEachColumns(group, [&](Value column, int64_t vectors) {
      forEachHeads(firstKey, vectors, [&](ArrayRef<QueryTile> beside) {
        loops.tiles.addValues(beside, group, column, vectors, from, to);
      });
    });
  }

  AttentionLoops &loops;
  Emitter &e;
  const Value head;
  const int64_t heads, group;
  const TokenHeadRows rows;
};

}  // namespace

void expandTokenHeads(AttentionLoops &loops, kernel::SpanOp span, Value head, int64_t heads) {
  TokenHeads(loops, span, head, heads).expand();
}

//===--- group of a token
//----------------------------------------------------------------------------------------------===//

// The queries of a token that share a key-value head are one tile, so that each key and value is loaded once.

namespace {

class TokenGroup {
public:
  TokenGroup(AttentionLoops &loops, const HeadRows &rows) : loops(loops), e(loops.e), rows(rows) {}

  void expand() {
    loops.begin(rows);
    prefetch.emplace(loops, rows.head);
    loops.forEachBlock(rows, [&](Value first, Value count) {
      KvBlock block = loops.keys.locate(rows.head, first, count);
      loops.softmax.beginBlock(first);
      auto [from, to] = loops.visibleRange(e.index(0), e.index(0), first, e.index(0), count);
      e.when(e.less(from, to), [&, from = from, to = to] { expandBlock(block, first, count, from, to); });
      loops.softmax.endBlock();
    });
  }

private:
  void expandBlock(const KvBlock &block, Value first, Value count, Value from, Value to) {
    QueryTile tile = {e.index(0), block};
    int64_t tokens = loops.keys.layout.tokens;
    Value begin = e.div(from, tokens), end = e.ceilDiv(to, tokens);
    prefetch->enterBlock(first, begin, end);
    Emitter::Values queries = loops.queryViews(rows, tile, loops.group);
    EvenParts(e, e.sub(end, begin), loops.tiles.widestTile(loops.group))
        .each(e, [&](Value, Value panel, int64_t panels) {
          loops.tiles.computeScores(tile, queries, e.add(begin, panel), panels * loops.tiles.perPanel(),
                                    prefetch->besideScores(panels));
        });
    loops.applySoftmax(rows, first, count);
    loops.tiles.forEachColumns(loops.group, [&](Value column, int64_t vectors) {
      loops.tiles.addValues(tile, loops.group, column, vectors, from, to,
                            prefetch->besideValues(column, vectors * e.lanes));
    });
  }

  AttentionLoops &loops;
  Emitter &e;
  const HeadRows &rows;
  std::optional<KvPrefetch> prefetch;  // after the rows have begun
};

}  // namespace

void expandTokenGroup(AttentionLoops &loops, const HeadRows &rows) {
  TokenGroup(loops, rows).expand();
}

//===--- block of a row
//------------------------------------------------------------------------------------------------===//

// Flash decoding: stores P, the maximum and the sum of one block of a single token's keys for kernel.combine.

static void storePartial(AttentionLoops &loops, const HeadRows &rows, Value index) {
  Emitter &e = loops.e;
  kernel::PartialAttentionLayout layout(loops.op.getHeads(), loops.width);
  Value init = loops.op.getInit();
  if (loops.keys.layout.isRing())
    index = e.rem(index, cast<ShapedType>(init.getType()).getDimSize(0));
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    Value head = rows.queryHead(row);
    e.columns(loops.paddedWidth, [&](Value column, Value) {
      Value at = e.add(e.mul(head, loops.paddedWidth), column);
      e.store(e.load(loops.tiles.partial, {row, column}), init, {index, at});
    });
    e.storeScalar(loops.softmax.blockMaximum(row), init, {index, e.add(head, layout.maxima)});
    e.storeScalar(loops.softmax.blockSum(row), init, {index, e.add(head, layout.sums)});
  });
}

void expandSplitKvBlock(AttentionLoops &loops, HeadProducts &products, const HeadRows &rows, Value index, Value end) {
  Emitter &e = loops.e;
  Value first = e.mul(index, loops.schedule.keys);
  loops.begin(rows);
  expandHeadBlock(loops, products, rows, first, e.min(e.index(loops.schedule.keys), e.sub(end, first)));
  storePartial(loops, rows, index);
}

}  // namespace talc
