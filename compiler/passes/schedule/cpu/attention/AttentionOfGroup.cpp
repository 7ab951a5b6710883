// SPDX-License-Identifier: Apache-2.0
// Attention, one key-value head of a token that is alone in its sequence: the queries that share the head are one tile,
// so that each key and value is loaded once.
#include "compiler/passes/schedule/cpu/attention/KvPrefetch.h"
#include "compiler/passes/schedule/cpu/matmul/EvenParts.h"

using namespace mlir;

namespace talc {

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

}  // namespace talc
