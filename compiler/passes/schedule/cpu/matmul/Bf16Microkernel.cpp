// SPDX-License-Identifier: Apache-2.0
// Multiplies bf16 activations by a bf16 weight, two k at a time.
//
//   weight, k      a b c ...                  two rows of a panel
//   weight, k + 1    d e f ...
//   in a register  a d  b e  c f ...          a lane has both of its column: once for all rows of the tile
//   x of a row     x y  x y  x y ...          the same two values in every lane
//
// Panels stay those of F32Microkernel.cpp, so that code for any processor reads them. An accumulator is one chain of
// pairs with k ascending, so that no shape of a tile makes other bits.
//
// Two neighboring vectors of columns are loaded as one, and interleaved by one instruction each, which works within 16
// bytes. Sums are in this order meanwhile:
//
//   columns        0 1 2 3 4 5 6 7   8 9 ...
//   first vector   0 1 2 3           8 9 10 11   ...
//   second vector          4 5 6 7   12 13 14 15 ...
#include "compiler/passes/schedule/cpu/matmul/FloatMicrokernel.h"
#include "compiler/passes/schedule/cpu/matmul/LaneOrder.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t quarterColumns = 4;  // whose words are 16 bytes

class Bf16Tile {
public:
  Bf16Tile(const MatmulContext &c, const TileOperands &tile)
      : c(c), e(c.e), tile(tile), rows(static_cast<int64_t>(tile.rows.size())),
        vectors(static_cast<int64_t>(tile.panels.size())) {}

  Emitter::Values accumulate(ValueRange sums) {
    RegisterTile registers{
        rows, vectors, std::max<int64_t>(c.plan.tunables.unroll / 2, 1),
        [&](int64_t r, Value pair) { return loadActivations(r, pair); },
        [&](Value pair, int64_t v) { return takesTwoVectors() ? loadHalf(pair, v) : loadVector(pair, v); }};
    registers.multiply = [&](Value x, Value weight, Value sum) -> Value {
      return kernel::DotPairsOp::create(e.b, e.loc, sum, weight, asBf16(x));
    };
    if (tile.prefetch)
      registers.begin = [&](Value pair) { tile.prefetch(e.mul(pair, 2), {}); };
    if (!takesTwoVectors())
      return registers.accumulate(e, sums, tile.k / 2);
    LaneOrder order(e.lanes, columnOfLane);
    return order.restore(e, registers.accumulate(e, order.apply(e, sums), tile.k / 2));
  }

private:
  // A pair of a row, as one word.
  Value loadActivations(int64_t r, Value pair) {
    auto two = VectorType::get({2}, e.b.getBF16Type());
    Value feature = e.add(tile.features[r], e.mul(pair, 2));
    Value x = vector::LoadOp::create(e.b, e.loc, two, c.x, ValueRange{tile.rows[r], feature});
    Value word = vector::BitCastOp::create(e.b, e.loc, VectorType::get({1}, e.b.getI32Type()), x);
    return vector::ExtractOp::create(e.b, e.loc, word, 0);
  }

  // If rows are fewer than vectors, vectors are loaded one by one, and each cache line would be loaded twice.
  bool takesTwoVectors() const { return c.plan.sliceLanes(rows) / e.lanes % 2 == 0 && rows >= vectors; }

  Value loadVector(Value pair, int64_t v) {
    Value k = e.add(tile.firstK, e.mul(pair, 2));
    return asBf16(
        vector::InterleaveOp::create(e.b, e.loc, loadColumns(k, v, e.lanes), loadColumns(e.add(k, 1), v, e.lanes)));
  }

  Value loadHalf(Value pair, int64_t v) {
    Value k = e.add(tile.firstK, e.mul(pair, 2));
    Value columns[] = {loadColumns(k, v / 2 * 2, 2 * e.lanes), loadColumns(e.add(k, 1), v / 2 * 2, 2 * e.lanes)};
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < e.lanes; ++lane)
      for (int64_t odd : {0, 1})
        order.push_back(columnOfLane(v % 2, lane) + odd * 2 * e.lanes);
    return asBf16(vector::ShuffleOp::create(e.b, e.loc, columns[0], columns[1], order));
  }

  // As bits: processors without instructions for bf16 would take its lanes one by one.
  Value loadColumns(Value k, int64_t v, int64_t count) {
    auto type = VectorType::get({count}, e.b.getBF16Type());
    Value columns = vector::LoadOp::create(e.b, e.loc, type, c.weight, ValueRange{tile.panels[v], k, tile.lanes[v]});
    return vector::BitCastOp::create(e.b, e.loc, type.clone(e.b.getI16Type()), columns);
  }

  Value asBf16(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({2 * e.lanes}, e.b.getBF16Type()), words);
  }

  // The column of two vectors whose sum a lane of one of them has.
  static int64_t columnOfLane(int64_t vector, int64_t lane) {
    return lane / quarterColumns * 2 * quarterColumns + vector * quarterColumns + lane % quarterColumns;
  }

  const MatmulContext &c;
  Emitter &e;
  const TileOperands &tile;
  const int64_t rows, vectors;
};

class Bf16Microkernel final : public FloatMicrokernel {
public:
  Bf16Microkernel(const StorageFormat &weight, const IsaTraits &traits)
      : FloatMicrokernel(Kind::Bf16, weight, traits) {}

  int64_t unroll() const override { return 2; }
  int64_t kUnit(const StorageFormat &) const override { return 2; }
  void multiply(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) const override {
    sums.store(Bf16Tile(c, tile).accumulate(sums.load()));
  }
};

}  // namespace

std::unique_ptr<const Microkernel> makeBf16Microkernel(const StorageFormat &weight, const IsaTraits &traits) {
  return std::make_unique<Bf16Microkernel>(weight, traits);
}

}  // namespace talc
