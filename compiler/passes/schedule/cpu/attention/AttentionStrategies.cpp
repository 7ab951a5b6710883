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

//===--- rows of a head ------------------------------------------------------------------------------------------------===//

// Attention, rows of one key-value head: the general strategy.
//
//   for each chunk of keys:    for each tile of rows:  S = queries * keys      register tiles; keys lie in panels like
//                                                                              a packed weight
//                              for each tile of rows:  S = weights of S        AttentionSoftmax.h
//   for each chunk of values:  for each tile of rows:  P += S * values         register tiles
//
// All tiles take a chunk of keys, or of values, before the next one is read, so that it stays in L1. A tile's first
// chunk begins P with zeros, and where there is no other block, its last one writes the result: 24 stores beside a
// thousand multiply-adds wait for no memory, those of all rows at once do.

namespace {

class TilesOfHead final : public HeadProducts {
public:
  explicit TilesOfHead(AttentionLoops &loops) : loops(loops), e(loops.e) {}

  void computeScores(const RowsOfHead &rows, const TileRows &tile, int64_t n, Value from, Value to) override {
    int64_t tokens = loops.keys.layout.tokens;
    Value first = e.div(from, tokens), end = e.ceilDiv(to, tokens);
    Emitter::Values queries = loops.queriesOf(rows, tile, n);
    EvenParts parts(e, e.sub(end, first), std::min(loops.tiles.widestTile(n), loops.schedule.keys / tokens));
    parts.each(e, [&](Value, Value panel, int64_t count) {
      loops.tiles.computeScores(tile, queries, e.add(first, panel), count * loops.tiles.perPanel());
    });
  }

  void addValues(const TileRows &tile, int64_t n, Value from, Value to, const PartEnds &ends) override {
    loops.tiles.eachColumns(n, [&](Value column, int64_t vectors) {
      loops.tiles.addValues(tile, n, column, vectors, from, to, /*fetch=*/nullptr, ends);
    });
  }

  bool leavesTokens() const override { return true; }

private:
  AttentionLoops &loops;
  Emitter &e;
};

}  // namespace

std::unique_ptr<HeadProducts> tilesOfHead(AttentionLoops &loops) {
  return std::make_unique<TilesOfHead>(loops);
}

namespace {

// A block of keys that the rows see.
class BlockOfHead {
public:
  BlockOfHead(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows, Value firstKey, Value count)
      : loops(loops), e(loops.e), products(products), rows(rows), firstKey(firstKey), count(count),
        block(loops.keys.find(rows.head, firstKey, count)) {}

  void weigh() {
    loops.softmax.beginBlock(firstKey);
    eachChunk([&](int64_t n, Value row, Value from, Value to) {
      products.computeScores(rows, {row, block}, n, from, to);
    });
    loops.weighScores(rows, firstKey, count);
  }

  // `only`, an i1: there is no other block, and tiles leave the result; null: they never do.
  void addValues(Value only) {
    eachChunk([&](int64_t n, Value row, Value from, Value to) {
      auto [begin, end] = loops.seenOf(row, e.add(row, n - 1), firstKey, e.index(0), count);
      PartEnds ends = {e.less(from, e.add(begin, 1)), {}};
      if (only) {
        ends.ends = arith::AndIOp::create(e.b, e.loc, only, e.less(e.sub(end, e.index(1)), to));
        ends.leave = [&](Value row, Value column, Value sums) { loops.storeResult(rows, row, column, sums); };
      }
      products.addValues({row, block}, n, from, to, ends);
    });
  }

private:
  void eachChunk(llvm::function_ref<void(int64_t, Value, Value, Value)> body) {
    e.loop(e.index(0), count, loops.schedule.chunk, [&](Value from) {
      loops.eachTile(rows, firstKey, from, e.min(count, e.add(from, loops.schedule.chunk)), body);
    });
  }

  AttentionLoops &loops;
  Emitter &e;
  HeadProducts &products;
  const RowsOfHead &rows;
  const Value firstKey, count;
  const KvBlock block;
};

}  // namespace

void expandBlockOfHead(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows, Value firstKey,
                       Value count) {
  BlockOfHead block(loops, products, rows, firstKey, count);
  block.weigh();
  block.addValues(/*only=*/nullptr);
}

void expandRowsOfHead(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows) {
  loops.begin(rows, /*clears=*/!loops.allSeeFirst());
  loops.eachBlockOrOnly(rows, [&](Value first, Value count, Value only) {
    BlockOfHead block(loops, products, rows, first, count);
    block.weigh();
    loops.softmax.endBlock();
    loops.endOnly(rows, only);
    block.addValues(only);
  });
}

//===--- heads of a token ----------------------------------------------------------------------------------------------===//

// Attention, heads of one token: for sequences of one row in a step of many, which have little to do for each head.
//
//   rows of the task:  head 0: queries 0 .. group-1 | head 1: queries 0 .. group-1 | ...      all of the same token
//
// All rows see the same keys. The products of some heads go through one loop side by side: their chains of
// multiply-adds hide each other's latency.

namespace {

class HeadsOfToken : public TaskRows {
public:
  HeadsOfToken(Emitter &e, kernel::SpanOp span, Value head, int64_t heads, int64_t group)
      : TaskRows(span, e.index(heads * group)), e(e), head(head), group(group) {}

  Value token(Value) const override { return firstToken; }
  Value position(Value) const override { return firstPosition; }
  Value queryHead(Value row) const override { return e.add(e.mul(head, group), row); }

private:
  Emitter &e;
  const Value head;
  const int64_t group;
};

class Token {
public:
  Token(AttentionLoops &loops, kernel::SpanOp span, Value head, int64_t heads)
      : loops(loops), e(loops.e), head(head), heads(heads), group(loops.group),
        rows(loops.e, span, head, heads, loops.group) {}

  void expand() {
    loops.begin(rows);
    loops.eachBlock(rows, [&](Value first, Value count) {
      loops.softmax.beginBlock(first);
      auto [from, to] = loops.seenOf(e.index(0), e.index(0), first, e.index(0), count);
      e.when(e.less(from, to), [&, from = from, to = to] {
        computeScores(first, from, to);
        loops.weighScores(rows, first, count);
        addValues(first, from, to);
      });
      loops.softmax.endBlock();
    });
  }

private:
  // Runs body for heads side by side: so many that eight chains of multiply-adds, if there are as many heads, hide
  // their latency.
  void eachHeads(Value firstKey, int64_t vectors, llvm::function_ref<void(ArrayRef<TileRows>)> body) {
    constexpr int64_t chains = 8;
    int64_t beside = largestDivisor(heads, chains / (group * vectors));
    e.loop(e.index(0), e.index(heads), beside, [&](Value first) {
      SmallVector<TileRows> tiles;
      for (int64_t i = 0; i < beside; ++i) {
        Value h = e.add(first, i);
        tiles.push_back({e.mul(h, group), loops.keys.inSlot(e.add(head, h), firstKey)});
      }
      body(tiles);
    });
  }

  void computeScores(Value firstKey, Value from, Value to) {
    int64_t vectors = loops.tiles.perPanel();
    eachHeads(firstKey, vectors, [&](ArrayRef<TileRows> beside) {
      Emitter::Values queries = loops.queriesOf(rows, beside, group);
      e.loop(e.div(from, loops.keys.layout.tokens), e.ceilDiv(to, loops.keys.layout.tokens), 1,
             [&](Value panel) { loops.tiles.computeScores(beside, queries, panel, vectors); });
    });
  }

  void addValues(Value firstKey, Value from, Value to) {
    loops.tiles.eachColumns(group, [&](Value column, int64_t vectors) {
      eachHeads(firstKey, vectors,
                [&](ArrayRef<TileRows> beside) { loops.tiles.addValues(beside, group, column, vectors, from, to); });
    });
  }

  AttentionLoops &loops;
  Emitter &e;
  const Value head;
  const int64_t heads, group;
  const HeadsOfToken rows;
};

}  // namespace

void expandHeadsOfToken(AttentionLoops &loops, kernel::SpanOp span, Value head, int64_t heads) {
  Token(loops, span, head, heads).expand();
}

//===--- group of a token ----------------------------------------------------------------------------------------------===//

// Attention, one key-value head of a token that is alone in its sequence: the queries that share the head are one tile,
// so that each key and value is loaded once.

namespace {

class Group {
public:
  Group(AttentionLoops &loops, const RowsOfHead &rows) : loops(loops), e(loops.e), rows(rows) {}

  void expand() {
    loops.begin(rows);
    ahead.emplace(loops, rows.head);
    loops.eachBlock(rows, [&](Value first, Value count) {
      KvBlock block = loops.keys.find(rows.head, first, count);
      loops.softmax.beginBlock(first);
      auto [from, to] = loops.seenOf(e.index(0), e.index(0), first, e.index(0), count);
      e.when(e.less(from, to), [&, from = from, to = to] { expandBlock(block, first, count, from, to); });
      loops.softmax.endBlock();
    });
  }

private:
  void expandBlock(const KvBlock &block, Value first, Value count, Value from, Value to) {
    TileRows tile = {e.index(0), block};
    int64_t tokens = loops.keys.layout.tokens;
    Value begin = e.div(from, tokens), end = e.ceilDiv(to, tokens);
    ahead->enterBlock(first, begin, end);
    Emitter::Values queries = loops.queriesOf(rows, tile, loops.group);
    EvenParts(e, e.sub(end, begin), loops.tiles.widestTile(loops.group))
        .each(e, [&](Value, Value panel, int64_t panels) {
          loops.tiles.computeScores(tile, queries, e.add(begin, panel), panels * loops.tiles.perPanel(),
                                    ahead->besideKeys(panels));
        });
    loops.weighScores(rows, first, count);
    loops.tiles.eachColumns(loops.group, [&](Value column, int64_t vectors) {
      loops.tiles.addValues(tile, loops.group, column, vectors, from, to,
                            ahead->besideValues(column, vectors * e.lanes));
    });
  }

  AttentionLoops &loops;
  Emitter &e;
  const RowsOfHead &rows;
  std::optional<KvPrefetch> ahead;  // when the rows are known
};

}  // namespace

void expandGroupOfToken(AttentionLoops &loops, const RowsOfHead &rows) {
  Group(loops, rows).expand();
}

//===--- block of a row ------------------------------------------------------------------------------------------------===//

// Attention, one block of a single row's keys: leaves P, the maximum and the sum for kernel.combine.

static void leavePart(AttentionLoops &loops, const RowsOfHead &rows, Value index) {
  Emitter &e = loops.e;
  kernel::PartialAttentionLayout layout(loops.op.getHeads(), loops.width);
  Value init = loops.op.getInit();
  if (loops.keys.layout.isRing())
    index = e.rem(index, cast<ShapedType>(init.getType()).getDimSize(0));
  e.loop(e.index(0), rows.count, 1, [&](Value row) {
    Value head = rows.queryHead(row);
    e.columns(loops.paddedWidth, [&](Value column, Value) {
      Value at = e.add(e.mul(head, loops.paddedWidth), column);
      e.store(e.load(loops.tiles.part, {row, column}), init, {index, at});
    });
    e.storeScalar(loops.softmax.blockMaximum(row), init, {index, e.add(head, layout.maxima)});
    e.storeScalar(loops.softmax.blockSum(row), init, {index, e.add(head, layout.sums)});
  });
}

void expandBlockOfRow(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows, Value index, Value end) {
  Emitter &e = loops.e;
  Value first = e.mul(index, loops.schedule.keys);
  loops.begin(rows);
  expandBlockOfHead(loops, products, rows, first, e.min(e.index(loops.schedule.keys), e.sub(end, first)));
  leavePart(loops, rows, index);
}

}  // namespace talc
