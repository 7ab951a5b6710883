// SPDX-License-Identifier: Apache-2.0
// Which way a contraction multiplies, and the way of widened values.
#include "compiler/passes/schedule/cpu/TileProducts.h"

#include "compiler/passes/schedule/cpu/ContractTile.h"
#include "compiler/passes/schedule/cpu/IntegerBlocks.h"

using namespace mlir;

namespace talc {

static Emitter::Values accumulateWidened(const ContractCode &c, const TilePlaces &tile, ValueRange before) {
  Emitter &e = c.e;
  auto loadB = [&](Value k, int64_t v) {
    return e.load(c.op.getWeight(), {tile.panels[v], e.add(tile.firstK, k), tile.lanes[v]});
  };
  auto rows = static_cast<int64_t>(tile.rows.size()), vectors = static_cast<int64_t>(tile.panels.size());
  RegisterTile registers{rows, vectors, c.plan.tileSteps, nullptr, loadB};
  registers.readA(e, [&](int64_t r, Value k) {
    return std::pair(c.op.getX(), Emitter::Values{tile.rows[r], e.add(tile.firstFeature, k)});
  });
  if (tile.fetch)
    registers.begin = [&](Value k) { tile.fetch(k, {}); };
  return registers.accumulate(e, before, tile.depth);
}

// As many multiply-adds with narrow vectors, of which a tile has half as many.
const TileProducts widenedProducts = {[](int64_t) { return tileRows; },
                                      tileColumns,
                                      [](int64_t lanes) -> int64_t { return lanes > 8 ? 2 : 4; },
                                      /*fixedSteps=*/false,
                                      [](int64_t) -> int64_t { return 64; },
                                      [](const StorageFormat &) -> int64_t { return 2; },
                                      accumulateWidened};

// Vectors of four lanes are NEON's, for which there is no code of pairs.
const TileProducts &productsOf(kernel::ContractOp op, int64_t lanes) {
  auto x = cast<ShapedType>(op.getX().getType()), weight = cast<ShapedType>(op.getWeight().getType());
  Type rounded = x.getElementType();
  if (!isRounded(rounded))
    return widenedProducts;
  if (isa<FloatType>(rounded)) {
    bool pairs = lanes > 4 && weight.getElementType() == rounded && weight.getDimSize(1) % 2 == 0;
    return pairs ? pairProducts : widenedProducts;
  }
  return integerBlocks(elementFormat(weight).name) ? integerProducts : widenedProducts;
}

}  // namespace talc
