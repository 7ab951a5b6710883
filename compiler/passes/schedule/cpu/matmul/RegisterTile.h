// SPDX-License-Identifier: Apache-2.0
// The register tile that matmuls and attention are made of: C[rows, columns] += A[rows, k] * B[k, columns].
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// rows x vectors accumulators live in registers through a loop over k. Each accumulator is one chain of fused
// multiply-adds with k ascending, whatever the tile: a row's result does not depend on the rows beside it.
struct RegisterTile {
  int64_t rows;
  int64_t vectors;
  int64_t unroll;  // k steps per iteration; a static k count need not be a multiple

  // The scalar A[row, k], which is broadcast; the vector B[k, vector].
  std::function<mlir::Value(int64_t row, mlir::Value k)> loadA;
  std::function<mlir::Value(mlir::Value k, int64_t vector)> loadB;

  // A[row, k] to A[row, k + unroll - 1] in the lanes of a vector, loaded once for an iteration; null: scalars are
  // loaded one by one.
  std::function<mlir::Value(int64_t row, mlir::Value k)> loadRow = nullptr;

  // sum + a * b, of what the loads made; null: of f32.
  std::function<mlir::Value(mlir::Value a, mlir::Value b, mlir::Value sum)> multiply = nullptr;

  // Called at the first k of every iteration before the loads, if there is one: for prefetches.
  std::function<void(mlir::Value k)> begin = nullptr;

  // Loads A, which is f32, from the memory and indices that `addressA` says; a vector at a time if scalars come from
  // lanes.
  using AddressA = std::function<std::pair<mlir::Value, Emitter::Values>(int64_t row, mlir::Value k)>;
  void readA(Emitter &e, AddressA addressA);

  // Accumulators in row-major order, after k in [0, depth).
  Emitter::Values accumulate(Emitter &e, mlir::ValueRange init, mlir::Value depth) const;
  Emitter::Values accumulate(Emitter &e, mlir::ValueRange init, int64_t depth) const;
};

// Several tiles of one kind in one loop over k, for tiles with few accumulators: one goes on while others wait. The
// accumulators follow each other, tile by tile.
Emitter::Values accumulateTogether(Emitter &e, llvm::ArrayRef<RegisterTile> tiles, mlir::ValueRange init,
                                   mlir::Value depth);
Emitter::Values accumulateTogether(Emitter &e, llvm::ArrayRef<RegisterTile> tiles, mlir::ValueRange init,
                                   int64_t depth);

// Steps of k per iteration. Where a multiply-add takes its scalar from a lane, an iteration loads a vector of scalars
// of each row: with six rows' registers beside 24 accumulators two are left for B. Elsewhere `otherwise`.
inline int64_t registerTileUnroll(const IsaTraits &traits, int64_t otherwise) {
  return traits.fmaFromLane ? traits.lanes : otherwise;
}

// Rows of a full tile.
constexpr int64_t registerTileRows = 6;
// Columns, a multiple of 16, that fill the accumulators of a tile of `rows` rows: few rows need many columns, so that
// enough independent chains hide the latency of the multiply-add; so do large register files.
int64_t registerTileColumns(int64_t rows, const IsaTraits &traits);

// Tokens of a panel of a KV cache: the lanes of the widest vector.
constexpr int64_t kvPanelTokens = 16;

}  // namespace talc
