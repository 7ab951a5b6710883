// SPDX-License-Identifier: Apache-2.0
// Loops of the two products of attention.
#include "compiler/passes/schedule/cpu/attention/AttentionTiles.h"
#include "compiler/passes/schedule/cpu/matmul/EvenParts.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace talc {

AttentionTiles::AttentionTiles(Emitter &emitter, const KvView &keys, const AttentionSoftmax &softmax, int64_t rows)
    : partial(emitter.stackBuffer({rows, keys.layout.paddedWidth})), e(emitter), layout(keys.layout),
      panels(keys.panels), softmax(softmax) {}

// With a large register file, four panels halve the loads of a tile's scalars.
int64_t AttentionTiles::widestTile(int64_t rows, const IsaTraits &traits, int64_t tokens) {
  int64_t columns = registerTileColumns(traits.hasLargeRegisterFile() ? registerTileRows : rows, traits);
  return columns * registerTileRows / std::max(rows, registerTileRows) / tokens;
}

int64_t AttentionTiles::keySteps() const {
  return registerTileUnroll(e.traits, 2);
}

void AttentionTiles::computeScores(ArrayRef<QueryTile> rows, ArrayRef<Value> queries, Value panel, int64_t vectors,
                                   const Prefetch &prefetch) {
  int64_t count = queries.size() / rows.size();
  SmallVector<RegisterTile> tiles;
  for (auto [i, entry] : llvm::enumerate(rows)) {
    ArrayRef<Value> entryQueries = queries.slice(i * count, count);
    KvBlock keys = entry.block;
    auto loadKeys = [this, keys, panel](Value k, int64_t v) {
      return panels.keys->load(keys.keys, e.add(panel, v / perPanel()), e.index(v % perPanel() * e.lanes), k);
    };
    tiles.push_back({count, vectors, keySteps(), nullptr, loadKeys});
    tiles.back().readA(e,
                       [entryQueries](int64_t r, Value k) { return std::pair(entryQueries[r], Emitter::Values{k}); });
  }
  if (prefetch)
    tiles.front().begin = [&prefetch, panel](Value k) { prefetch(panel, k); };
  Emitter::Values zeros(queries.size() * vectors, e.splat(0));
  Emitter::Values sums = accumulateTogether(e, tiles, zeros, layout.width);
  Value column = e.mul(panel, layout.tokens);
  for (auto [i, sum] : llvm::enumerate(sums)) {
    int64_t r = i / vectors, v = i % vectors;
    e.store(sum, softmax.scores, {e.add(rows[r / count].first, r % count), e.add(column, v * e.lanes)});
  }
}

void AttentionTiles::forEachColumns(int64_t rows, llvm::function_ref<void(Value, int64_t)> body) {
  forEachEvenPart(e, layout.paddedWidth / layout.tokens, widestTile(rows),
                  [&](Value panel, int64_t count) { body(e.mul(panel, layout.tokens), count * perPanel()); });
}

void AttentionTiles::addValues(ArrayRef<QueryTile> rows, int64_t count, Value column, int64_t vectors, Value from,
                               Value to, const Prefetch &prefetch, const PartialEnds &ends) {
  Value panel, firstOfPanel;
  SmallVector<RegisterTile> tiles;
  for (const QueryTile &entry : rows) {
    auto loadValues = [&](Value k, int64_t v) {
      return panels.values->load(entry.block.values, panel, k, e.add(column, v * e.lanes));
    };
    tiles.push_back({count, vectors, registerTileUnroll(e.traits, 1), nullptr, loadValues});
    tiles.back().readA(e, [&](int64_t r, Value k) {
      return std::pair(softmax.scores, Emitter::Values{e.add(entry.first, r), e.add(firstOfPanel, k)});
    });
  }
  if (prefetch)
    tiles.front().begin = [&prefetch, &panel](Value k) { prefetch(panel, k); };
  SmallVector<Values> indices;
  for (const QueryTile &entry : rows)
    for (int64_t i = 0; i < count * vectors; ++i)
      indices.push_back({e.add(entry.first, i / vectors), e.add(column, i % vectors * e.lanes)});
  Values sums = e.loop(e.div(from, layout.tokens), e.ceilDiv(to, layout.tokens), 1, loadSums(indices, ends.isFirst),
                       [&](Value p, ValueRange carried) {
                         panel = p;
                         firstOfPanel = e.mul(p, layout.tokens);
                         Value keys = e.min(e.index(layout.tokens), e.sub(to, firstOfPanel));
                         return accumulateTogether(e, tiles, carried, keys);
                       });
  storeSums(sums, indices, ends);
}

Emitter::Values AttentionTiles::loadSums(ArrayRef<Values> indices, Value isFirst) {
  auto load = [&] {
    Values sums;
    for (const Values &at : indices)
      sums.push_back(e.load(partial, at));
    return sums;
  };
  if (!isFirst)
    return load();
  SmallVector<Type> types(indices.size(), e.vectorOf(e.b.getF32Type()));
  auto branch = scf::IfOp::create(e.b, e.loc, types, isFirst, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(e.b);
  e.b.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(e.b, e.loc, Values(indices.size(), e.splat(0)));
  e.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(e.b, e.loc, load());
  return Values(branch.getResults());
}

void AttentionTiles::storeSums(Values sums, ArrayRef<Values> indices, const PartialEnds &ends) {
  auto store = [&] {
    for (auto [sum, at] : llvm::zip_equal(sums, indices))
      e.store(sum, partial, at);
  };
  if (!ends.isLast)
    return store();
  auto storeFinal = [&] {
    for (auto [sum, at] : llvm::zip_equal(sums, indices))
      ends.storeFinal(at[0], at[1], sum);
  };
  e.choose(ends.isLast, storeFinal, store);
}

}  // namespace talc
