// SPDX-License-Identifier: Apache-2.0
// The two products of attention as register tiles: queries and keys, weights and values.
#include "compiler/passes/schedule/cpu/attention/AttentionTiles.h"
#include "compiler/passes/schedule/cpu/matmul/EvenParts.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace talc {

AttentionTiles::AttentionTiles(Emitter &emitter, const KvView &keys, const AttentionSoftmax &softmax, int64_t rows)
    : part(emitter.stackBuffer({rows, keys.layout.paddedWidth})), e(emitter), layout(keys.layout), panels(keys.panels),
      softmax(softmax) {}

// Wide vectors come with twice the registers, and four panels halve the loads of a tile's scalars.
int64_t AttentionTiles::widestTile(int64_t rows, const IsaTraits &traits, int64_t tokens) {
  int64_t columns = registerTileColumns(traits.hasLargeRegisterFile() ? registerTileRows : rows, traits);
  return columns * registerTileRows / std::max(rows, registerTileRows) / tokens;
}

int64_t AttentionTiles::keySteps() const {
  return registerTileUnroll(e.traits, 2);
}

void AttentionTiles::computeScores(ArrayRef<TileRows> rows, ArrayRef<Value> queries, Value panel, int64_t vectors,
                                   const Fetch &fetch) {
  int64_t count = queries.size() / rows.size();
  SmallVector<RegisterTile> tiles;
  for (auto [i, those] : llvm::enumerate(rows)) {
    ArrayRef<Value> own = queries.slice(i * count, count);
    KvBlock keys = those.block;
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
  forEachEvenPart(e, layout.paddedWidth / layout.tokens, widestTile(rows),
                  [&](Value panel, int64_t count) { body(e.mul(panel, layout.tokens), count * perPanel()); });
}

void AttentionTiles::addValues(ArrayRef<TileRows> rows, int64_t count, Value column, int64_t vectors, Value from,
                               Value to, const Fetch &fetch, const PartEnds &ends) {
  Value panel, firstOfPanel;
  SmallVector<RegisterTile> tiles;
  for (const TileRows &those : rows) {
    auto loadValues = [&](Value k, int64_t v) {
      return panels.values->load(those.block.values, panel, k, e.add(column, v * e.lanes));
    };
    tiles.push_back({count, vectors, registerTileUnroll(e.traits, 1), nullptr, loadValues});
    tiles.back().readA(e, [&](int64_t r, Value k) {
      return std::pair(softmax.scores, Emitter::Values{e.add(those.first, r), e.add(firstOfPanel, k)});
    });
  }
  if (fetch)
    tiles.front().begin = [&fetch, &panel](Value k) { fetch(panel, k); };
  SmallVector<Values> places;
  for (const TileRows &those : rows)
    for (int64_t i = 0; i < count * vectors; ++i)
      places.push_back({e.add(those.first, i / vectors), e.add(column, i % vectors * e.lanes)});
  Values sums = e.loop(e.div(from, layout.tokens), e.ceilDiv(to, layout.tokens), 1, beginSums(places, ends.begins),
                       [&](Value p, ValueRange carried) {
                         panel = p;
                         firstOfPanel = e.mul(p, layout.tokens);
                         Value keys = e.min(e.index(layout.tokens), e.sub(to, firstOfPanel));
                         return accumulateTogether(e, tiles, carried, keys);
                       });
  endSums(sums, places, ends);
}

Emitter::Values AttentionTiles::beginSums(ArrayRef<Values> places, Value begins) {
  auto held = [&] {
    Values sums;
    for (const Values &at : places)
      sums.push_back(e.load(part, at));
    return sums;
  };
  if (!begins)
    return held();
  SmallVector<Type> types(places.size(), e.vectorOf(e.b.getF32Type()));
  auto branch = scf::IfOp::create(e.b, e.loc, types, begins, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e.b, e.loc, Values(places.size(), e.splat(0)));
  e.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e.b, e.loc, held());
  return Values(branch.getResults());
}

void AttentionTiles::endSums(Values sums, ArrayRef<Values> places, const PartEnds &ends) {
  auto hold = [&] {
    for (auto [sum, at] : llvm::zip_equal(sums, places))
      e.store(sum, part, at);
  };
  if (!ends.ends)
    return hold();
  auto leave = [&] {
    for (auto [sum, at] : llvm::zip_equal(sums, places))
      ends.leave(at[0], at[1], sum);
  };
  e.choose(ends.ends, leave, hold);
}

}  // namespace talc
