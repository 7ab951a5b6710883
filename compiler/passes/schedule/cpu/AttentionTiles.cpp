// SPDX-License-Identifier: Apache-2.0
// The two products of attention as register tiles: queries and keys, weights and values.
#include "compiler/passes/schedule/cpu/AttentionTiles.h"
#include "compiler/passes/schedule/cpu/EvenParts.h"
#include "compiler/passes/schedule/cpu/RegisterTile.h"

using namespace mlir;

namespace talc {

AttentionTiles::AttentionTiles(Emitter &emitter, const AttentionKeys &keys, const AttentionSoftmax &softmax,
                               int64_t rows)
    : part(emitter.stackBuffer({rows, keys.layout.paddedWidth})), e(emitter), layout(keys.layout), panels(keys.panels),
      softmax(softmax) {}

// Wide vectors come with twice the registers, and four panels halve the loads of a tile's scalars.
int64_t AttentionTiles::widestTile(int64_t rows, int64_t lanes, int64_t tokens) {
  int64_t columns = tileColumns(lanes > 8 ? tileRows : rows, lanes);
  return columns * tileRows / std::max(rows, tileRows) / tokens;
}

int64_t AttentionTiles::keySteps() const {
  return tileSteps(e.lanes, 2);
}

void AttentionTiles::computeScores(ArrayRef<TileRows> rows, ArrayRef<Value> queries, Value panel, int64_t vectors,
                                   const Fetch &fetch) {
  int64_t count = queries.size() / rows.size();
  SmallVector<RegisterTile> tiles;
  for (auto [i, those] : llvm::enumerate(rows)) {
    ArrayRef<Value> own = queries.slice(i * count, count);
    KeyBlock keys = those.block;
    auto loadKeys = [this, keys, panel](Value k, int64_t v) {
      return panels.keys->load(keys.keys, e.add(panel, v / perPanel()), e.index(v % perPanel() * e.lanes), k);
    };
    tiles.push_back({count, vectors, keySteps(), nullptr, loadKeys});
    tiles.back().readA(e, [own](int64_t r, Value k) { return std::pair(own[r], Emitter::Values{k}); });
  }
  if (fetch)
    tiles.front().begin = [&fetch, panel](Value k) { fetch(panel, k); };
  Emitter::Values zeros(queries.size() * vectors, e.splat(0));
  Emitter::Values sums = accumulateTogether(e, tiles, zeros, layout.width);
  Value column = e.mul(panel, layout.tokens);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t r = i / vectors, v = i % vectors;
    e.store(sum, softmax.scores, {e.add(rows[r / count].first, r % count), e.add(column, v * e.lanes)});
  }
}

void AttentionTiles::eachColumns(int64_t rows, llvm::function_ref<void(Value, int64_t)> body) {
  eachEvenPart(e, layout.paddedWidth / layout.tokens, widestTile(rows),
               [&](Value panel, int64_t count) { body(e.mul(panel, layout.tokens), count * perPanel()); });
}

void AttentionTiles::addValues(ArrayRef<TileRows> rows, int64_t count, Value column, int64_t vectors, Value from,
                               Value to, const Fetch &fetch) {
  Value panel, firstOfPanel;
  SmallVector<RegisterTile> tiles;
  for (const TileRows &those : rows) {
    auto loadValues = [&](Value k, int64_t v) {
      return panels.values->load(those.block.values, panel, k, e.add(column, v * e.lanes));
    };
    tiles.push_back({count, vectors, tileSteps(e.lanes, 1), nullptr, loadValues});
    tiles.back().readA(e, [&](int64_t r, Value k) {
      return std::pair(softmax.scores, Emitter::Values{e.add(those.first, r), e.add(firstOfPanel, k)});
    });
  }
  if (fetch)
    tiles.front().begin = [&fetch, &panel](Value k) { fetch(panel, k); };
  auto at = [&](int64_t i) -> Emitter::Values {
    int64_t r = i / vectors, v = i % vectors;
    return {e.add(rows[r / count].first, r % count), e.add(column, v * e.lanes)};
  };
  int64_t chains = rows.size() * count * vectors;
  Emitter::Values sums;
  for (int64_t i = 0; i < chains; ++i)
    sums.push_back(e.load(part, at(i)));
  sums = e.loop(e.div(from, layout.tokens), e.ceilDiv(to, layout.tokens), 1, sums, [&](Value p, ValueRange carried) {
    panel = p;
    firstOfPanel = e.mul(p, layout.tokens);
    Value keys = e.min(e.index(layout.tokens), e.sub(to, firstOfPanel));
    return accumulateTogether(e, tiles, carried, keys);
  });
  for (int64_t i = 0; i < chains; ++i)
    e.store(sums[i], part, at(i));
}

}  // namespace talc
