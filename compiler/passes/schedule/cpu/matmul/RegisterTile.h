// SPDX-License-Identifier: Apache-2.0
// The register tile that every contraction is made of: C[rows, columns] += A[rows, k] * B[k, columns].
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// rows x vectors accumulators live in registers through a loop over k. Each accumulator is one chain of fused
// multiply-adds with k ascending, whatever the tile: a row's result does not depend on the rows beside it.
struct RegisterTile {
  int64_t rows;
  int64_t vectors;
  int64_t unroll;  // k steps per iteration; a static k count need not be a multiple

  // The scalar A[row, k], of which a vector is made; the vector B[k, vector].
  std::function<mlir::Value(int64_t row, mlir::Value k)> loadA;
  std::function<mlir::Value(mlir::Value k, int64_t vector)> loadB;

  // A[row, k] to A[row, k + unroll - 1] in the lanes of a vector, loaded once for an iteration; null: scalars are
  // loaded one by one.
  std::function<mlir::Value(int64_t row, mlir::Value k)> loadRow = nullptr;

  // sum + a * b, of what the loads made; null: of f32.
  std::function<mlir::Value(mlir::Value a, mlir::Value b, mlir::Value sum)> multiply = nullptr;

  // Called at the first k of every iteration before the loads, if there is one: for prefetches.
  std::function<void(mlir::Value k)> begin = nullptr;

  // Loads A, of f32, from where it lies, by whole iterations if scalars come from lanes of vectors.
  using PlaceOf = std::function<std::pair<mlir::Value, Emitter::Values>(int64_t row, mlir::Value k)>;
  void readA(Emitter &e, PlaceOf placeOf);

  // Accumulators in row-major order, after k in [0, depth).
  Emitter::Values accumulate(Emitter &e, mlir::ValueRange init, mlir::Value depth) const;
  Emitter::Values accumulate(Emitter &e, mlir::ValueRange init, int64_t depth) const;
};

// Tiles of one kind in one loop over k, for those that have few chains: one goes on while others wait. The accumulators
// follow each other, tile by tile.
Emitter::Values accumulateTogether(Emitter &e, llvm::ArrayRef<RegisterTile> tiles, mlir::ValueRange init,
                                   mlir::Value depth);
Emitter::Values accumulateTogether(Emitter &e, llvm::ArrayRef<RegisterTile> tiles, mlir::ValueRange init,
                                   int64_t depth);

// Whether a multiply-add of vectors of so many lanes takes a scalar from a lane: NEON's does. An iteration of as many
// steps loads a quarter of the scalars' loads then, and with all rows' six registers beside 24 accumulators two are
// left for B.
constexpr bool scalarsFromLanes(int64_t lanes) {
  return lanes == 4;
}
// Steps of k per iteration that make it so; where they do not, `otherwise`.
constexpr int64_t tileSteps(int64_t lanes, int64_t otherwise) {
  return scalarsFromLanes(lanes) ? lanes : otherwise;
}

// Whether instructions on vectors of so many lanes take constants from memory, which then need no register: NEON's do
// not.
constexpr bool constantsFromMemory(int64_t lanes) {
  return lanes > 4;
}

// Columns, a multiple of 16, that fill the accumulators of a tile of `rows` rows: few rows need many columns, so that
// enough independent chains hide the latency of the multiply-add; so do wide vectors, which come with more registers.
int64_t tileColumns(int64_t rows, int64_t lanes);

// Rows of a full tile.
constexpr int64_t tileRows = 6;
// Tokens of a panel of a state: those of the widest vector.
constexpr int64_t statePanel = 16;

}  // namespace talc
