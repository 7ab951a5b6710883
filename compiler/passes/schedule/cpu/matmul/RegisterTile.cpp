// SPDX-License-Identifier: Apache-2.0
// Loops of register tiles: C[rows, columns] += A[rows, k] * B[k, columns].
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

using namespace mlir;

namespace talc {

// One step of k. Either A's scalars or B's vectors, the fewer, are loaded first, and the others one by one, so that
// beside the accumulators hardly more than those few take registers. `rows`: vectors of A that are loaded already, with
// the scalars in `lane`; a processor with such lanes loads two neighbors of B by one instruction.
static void emitStep(Emitter &e, const RegisterTile &tile, MutableArrayRef<Value> sums, Value k, ArrayRef<Value> rows,
                     int64_t lane) {
  Emitter::Values held;
  auto scalar = [&](int64_t row) { return e.broadcast(rows.empty() ? tile.loadA(row, k) : e.lane(rows[row], lane)); };
  auto multiply = [&](int64_t row, int64_t vector, Value a, Value b) {
    Value &sum = sums[row * tile.vectors + vector];
    sum = tile.multiply ? tile.multiply(a, b, sum) : e.fma(a, b, sum);
  };
  if (tile.rows < tile.vectors || !rows.empty()) {
    for (int64_t row = 0; row < tile.rows; ++row)
      held.push_back(scalar(row));
    int64_t atOnce = rows.empty() ? 1 : 2;
    for (int64_t first = 0; first < tile.vectors; first += atOnce) {
      int64_t end = std::min(first + atOnce, tile.vectors);
      Emitter::Values b;
      for (int64_t vector = first; vector < end; ++vector)
        b.push_back(tile.loadB(k, vector));
      for (int64_t vector = first; vector < end; ++vector)
        for (int64_t row = 0; row < tile.rows; ++row)
          multiply(row, vector, held[row], b[vector - first]);
    }
    return;
  }
  for (int64_t vector = 0; vector < tile.vectors; ++vector)
    held.push_back(tile.loadB(k, vector));
  for (int64_t row = 0; row < tile.rows; ++row) {
    Value a = scalar(row);
    for (int64_t vector = 0; vector < tile.vectors; ++vector)
      multiply(row, vector, a, held[vector]);
  }
}

// `unroll` steps of every tile, beginning at k.
static Emitter::Values emitSteps(Emitter &e, ArrayRef<RegisterTile> tiles, ValueRange sums, Value k, int64_t unroll) {
  Emitter::Values result(sums);
  SmallVector<Emitter::Values> rows(tiles.size());
  for (auto [tile, loaded] : llvm::zip(tiles, rows))
    for (int64_t row = 0; tile.loadRow && unroll == tile.unroll && row < tile.rows; ++row)
      loaded.push_back(tile.loadRow(row, k));
  for (int64_t u = 0; u < unroll; ++u) {
    MutableArrayRef<Value> rest = result;
    for (auto [tile, loaded] : llvm::zip(tiles, rows)) {
      emitStep(e, tile, rest, e.add(k, u), loaded, u);
      rest = rest.drop_front(tile.rows * tile.vectors);
    }
  }
  return result;
}

Emitter::Values accumulateTogether(Emitter &e, ArrayRef<RegisterTile> tiles, ValueRange init, Value depth) {
  auto go = [&](Value from, Value to, int64_t unroll, ValueRange before) {
    return e.loop(from, to, unroll, before, [&](Value k, ValueRange sums) {
      if (tiles.front().begin)
        tiles.front().begin(k);
      return emitSteps(e, tiles, sums, k, unroll);
    });
  };
  int64_t unroll = tiles.front().unroll;
  if (unroll == 1)
    return go(e.index(0), depth, 1, init);
  Value unrolledDepth = e.mul(e.div(depth, unroll), unroll);
  return go(unrolledDepth, depth, 1, go(e.index(0), unrolledDepth, unroll, init));
}

Emitter::Values accumulateTogether(Emitter &e, ArrayRef<RegisterTile> tiles, ValueRange init, int64_t depth) {
  const RegisterTile &first = tiles.front();
  int64_t unrolledDepth = depth / first.unroll * first.unroll;
  Emitter::Values sums(init);
  if (unrolledDepth > 0)
    sums = e.loop(e.index(0), e.index(unrolledDepth), first.unroll, init, [&](Value k, ValueRange carried) {
      if (first.begin)
        first.begin(k);
      return emitSteps(e, tiles, carried, k, first.unroll);
    });
  for (int64_t k = unrolledDepth; k < depth; ++k)
    sums = emitSteps(e, tiles, sums, e.index(k), /*unroll=*/1);
  return sums;
}

void RegisterTile::readA(Emitter &e, AddressA addressA) {
  loadA = [&e, addressA](int64_t row, Value k) {
    auto [memory, at] = addressA(row, k);
    return e.loadScalar(memory, at);
  };
  if (e.traits.fmaFromLane && unroll == e.lanes)
    loadRow = [&e, addressA](int64_t row, Value k) {
      auto [memory, at] = addressA(row, k);
      return e.load(memory, at);
    };
}

Emitter::Values RegisterTile::accumulate(Emitter &e, ValueRange init, Value depth) const {
  return accumulateTogether(e, *this, init, depth);
}
Emitter::Values RegisterTile::accumulate(Emitter &e, ValueRange init, int64_t depth) const {
  return accumulateTogether(e, *this, init, depth);
}

int64_t registerTileColumns(int64_t rows, const IsaTraits &traits) {
  if (traits.hasLargeRegisterFile())
    return rows == 1 ? 256 : 64;
  switch (rows) {
  case 1:
    return 64;
  case 2:
    return 48;
  case 3:
    return 32;
  default:
    return 16;
  }
}

}  // namespace talc
