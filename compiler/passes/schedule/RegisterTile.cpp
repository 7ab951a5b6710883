// SPDX-License-Identifier: Apache-2.0
// The register tile that every contraction is made of: C[rows, columns] += A[rows, k] * B[k, columns].
#include "compiler/passes/schedule/RegisterTile.h"

using namespace mlir;

namespace talc {

// Of A's scalars and B's vectors the fewer are loaded first; the others one by one, so that besides the accumulators
// hardly more than those few take registers.
Emitter::Values RegisterTile::step(Emitter &e, ValueRange sums, Value k) const {
  Emitter::Values result(sums), held;
  auto multiply = [&](int64_t row, int64_t vector, Value a, Value b) {
    Value &sum = result[row * vectors + vector];
    sum = e.fma(a, b, sum);
  };
  if (rows < vectors) {
    for (int64_t row = 0; row < rows; ++row)
      held.push_back(e.broadcast(loadA(row, k)));
    for (int64_t vector = 0; vector < vectors; ++vector) {
      Value b = loadB(k, vector);
      for (int64_t row = 0; row < rows; ++row)
        multiply(row, vector, held[row], b);
    }
    return result;
  }
  for (int64_t vector = 0; vector < vectors; ++vector)
    held.push_back(loadB(k, vector));
  for (int64_t row = 0; row < rows; ++row) {
    Value a = e.broadcast(loadA(row, k));
    for (int64_t vector = 0; vector < vectors; ++vector)
      multiply(row, vector, a, held[vector]);
  }
  return result;
}

Emitter::Values RegisterTile::accumulate(Emitter &e, ValueRange init, Value depth) const {
  return e.loop(e.index(0), depth, 1, init, [&](Value k, ValueRange sums) { return step(e, sums, k); });
}

Emitter::Values RegisterTile::accumulate(Emitter &e, ValueRange init, int64_t depth) const {
  int64_t whole = depth / unroll * unroll;
  Emitter::Values sums(init);
  if (whole > 0)
    sums = e.loop(e.index(0), e.index(whole), unroll, init, [&](Value k, ValueRange carried) {
      Emitter::Values values(carried);
      if (begin)
        begin(k);
      for (int64_t u = 0; u < unroll; ++u)
        values = step(e, values, e.add(k, u));
      return values;
    });
  for (int64_t k = whole; k < depth; ++k)
    sums = step(e, sums, e.index(k));
  return sums;
}

int64_t tileColumns(int64_t rows, int64_t lanes) {
  if (lanes > 8)
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
