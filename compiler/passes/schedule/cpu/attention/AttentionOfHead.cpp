// SPDX-License-Identifier: Apache-2.0
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
#include "compiler/passes/schedule/cpu/attention/AttentionStrategies.h"
#include "compiler/passes/schedule/cpu/matmul/EvenParts.h"

using namespace mlir;

namespace talc {

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

}  // namespace talc
