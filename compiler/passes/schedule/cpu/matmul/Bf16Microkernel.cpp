// SPDX-License-Identifier: Apache-2.0
// A tile multiplies rows that were rounded to bf16 by a weight of bf16, two k at a time.
//
//   weight, k      a b c ...                  two rows of a panel
//   weight, k + 1    d e f ...
//   in a register  a d  b e  c f ...          a lane has both of its column: once for all rows of the tile
//   x of a row     x y  x y  x y ...          the same two numbers in every lane
//
// Panels stay those of widened products, so that code for any processor reads them. An accumulator is one chain of
// pairs with k ascending, so that no tile makes other bits.
//
// Two neighbouring vectors of columns are loaded as one, and interleaved by one instruction each, which does so within
// 16 bytes. Sums are in this order meanwhile:
//
//   columns        0 1 2 3 4 5 6 7   8 9 ...
//   first vector   0 1 2 3           8 9 10 11   ...
//   second vector          4 5 6 7   12 13 14 15 ...
#include "compiler/passes/schedule/cpu/matmul/LaneOrder.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"
#include "compiler/passes/schedule/cpu/matmul/Microkernel.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t quarter = 4;  // columns of 16 bytes of words

// Loads and products of a tile, whose steps are pairs.
class Pairs {
public:
  Pairs(const MatmulContext &c, const TileOperands &tile)
      : c(c), e(c.e), tile(tile), rows(static_cast<int64_t>(tile.rows.size())),
        vectors(static_cast<int64_t>(tile.panels.size())) {}

  Emitter::Values accumulate(ValueRange before) {
    RegisterTile registers{rows, vectors, std::max<int64_t>(c.plan.tileSteps / 2, 1),
                           [&](int64_t r, Value pair) { return factors(r, pair); },
                           [&](Value pair, int64_t v) { return inQuarters() ? half(pair, v) : whole(pair, v); }};
    registers.multiply = [&](Value x, Value weight, Value sum) -> Value {
      return kernel::DotPairsOp::create(e.b, e.loc, sum, weight, numbersOf(x));
    };
    if (tile.fetch)
      registers.begin = [&](Value pair) { tile.fetch(e.mul(pair, 2), {}); };
    if (!inQuarters())
      return registers.accumulate(e, before, tile.depth / 2);
    LaneOrder order(e.lanes, column);
    return order.together(e, registers.accumulate(e, order.apart(e, before), tile.depth / 2));
  }

private:
  // Of a row, as one word.
  Value factors(int64_t r, Value pair) {
    auto two = VectorType::get({2}, e.b.getBF16Type());
    Value feature = e.add(tile.features[r], e.mul(pair, 2));
    Value x = vector::LoadOp::create(e.b, e.loc, two, c.x, ValueRange{tile.rows[r], feature});
    Value word = vector::BitCastOp::create(e.b, e.loc, VectorType::get({1}, e.b.getI32Type()), x);
    return vector::ExtractOp::create(e.b, e.loc, word, 0);
  }

  // Where rows are fewer than vectors, these are loaded one by one, and each line would be twice.
  bool inQuarters() const { return c.plan.pieceLanes(rows) / e.lanes % 2 == 0 && rows >= vectors; }

  Value whole(Value pair, int64_t v) {
    Value k = e.add(tile.firstK, e.mul(pair, 2));
    return numbersOf(vector::InterleaveOp::create(e.b, e.loc, line(k, v, e.lanes), line(e.add(k, 1), v, e.lanes)));
  }

  Value half(Value pair, int64_t v) {
    Value k = e.add(tile.firstK, e.mul(pair, 2));
    Value lines[] = {line(k, v / 2 * 2, 2 * e.lanes), line(e.add(k, 1), v / 2 * 2, 2 * e.lanes)};
    SmallVector<int64_t> places;
    for (int64_t lane = 0; lane < e.lanes; ++lane)
      for (int64_t odd : {0, 1})
        places.push_back(column(v % 2, lane) + odd * 2 * e.lanes);
    return numbersOf(vector::ShuffleOp::create(e.b, e.loc, lines[0], lines[1], places));
  }

  // As bits: processors without instructions for bf16 would take its lanes one by one.
  Value line(Value k, int64_t v, int64_t columns) {
    auto type = VectorType::get({columns}, e.b.getBF16Type());
    Value numbers = vector::LoadOp::create(e.b, e.loc, type, c.weight, ValueRange{tile.panels[v], k, tile.lanes[v]});
    return vector::BitCastOp::create(e.b, e.loc, type.clone(e.b.getI16Type()), numbers);
  }

  Value numbersOf(Value words) {
    return vector::BitCastOp::create(e.b, e.loc, VectorType::get({2 * e.lanes}, e.b.getBF16Type()), words);
  }

  // Of two vectors, the column whose sums a lane of one of them has.
  static int64_t column(int64_t vector, int64_t lane) {
    return lane / quarter * 2 * quarter + vector * quarter + lane % quarter;
  }

  const MatmulContext &c;
  Emitter &e;
  const TileOperands &tile;
  const int64_t rows, vectors;
};

void multiplyPairs(const MatmulContext &c, const TileOperands &tile, const TileAccumulators &sums) {
  sums.store(Pairs(c, tile).accumulate(sums.before()));
}

}  // namespace

const Microkernel bf16Microkernel = {
    rowsOfNumbers,
    columnsOfNumbers,
    columnsOfNumberRow,
    [](const StorageFormat &, int64_t) -> int64_t { return 2; },
    /*fixedSteps=*/false,
    /*depthUnit=*/[](const StorageFormat &, const StorageFormat &) -> int64_t { return 2; },
    fetchAheadOfNumbers,
    blockOfNumbers,
    /*rowsStay=*/true,
    multiplyPairs,
    noTallRows,
    /*streams=*/true};

}  // namespace talc
