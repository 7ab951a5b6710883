// SPDX-License-Identifier: Apache-2.0
// The two products of attention as register tiles: queries times keys, weights times values.
#pragma once

#include "compiler/passes/schedule/cpu/attention/AttentionSoftmax.h"

namespace talc {

// Query rows of a task, from `first` on, and the block of keys and values that they see.
struct QueryTile {
  mlir::Value first;
  KvBlock block;
};

// The begin and end of a tile's partial output P in a chunk of the keys that it sees.
struct PartialEnds {
  mlir::Value isFirst;  // an i1: it is the first chunk, and P holds nothing yet; null: P always holds sums
  mlir::Value isLast;   // an i1: it is the last chunk, after which the sums are not needed in P; null: never
  // Stores the final sums of a row, from a column on.
  std::function<void(mlir::Value row, mlir::Value column, mlir::Value sums)> storeFinal = nullptr;
};

// Tiles are one entry of query rows or, if rows are few, several entries of as many rows each, which go through one
// loop: their chains of multiply-adds hide each other's latency.
class AttentionTiles {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;
  // Prefetches beside step k of a panel: of keys the features of an iteration, of values a key.
  using Prefetch = std::function<void(Value panel, Value k)>;

  // For tasks of up to `rows` rows, whose scores are in `softmax`.
  AttentionTiles(Emitter &emitter, const KvView &keys, const AttentionSoftmax &softmax, int64_t rows);

  // Panels of `tokens` tokens that a tile of so many rows takes side by side.
  static int64_t widestTile(int64_t rows, const IsaTraits &traits, int64_t tokens);
  int64_t widestTile(int64_t rows) const { return widestTile(rows, e.traits, layout.tokens); }
  // Features that an iteration of the product with keys takes.
  int64_t keySteps() const;
  // Vectors of a panel.
  int64_t perPanel() const { return layout.tokens / e.lanes; }

  // S[row, key] = query[row] * K[:, key] for the keys of `vectors` vectors from `panel` on. The queries, [width] each,
  // are those of the entries' rows, one entry after the other.
  void computeScores(llvm::ArrayRef<QueryTile> rows, llvm::ArrayRef<Value> queries, Value panel, int64_t vectors,
                     const Prefetch &prefetch = nullptr);

  // Runs body(first column, vectors) for the columns of P, as many at a time as a tile of so many rows takes.
  void forEachColumns(int64_t rows, llvm::function_ref<void(Value column, int64_t vectors)> body);
  // P[row, column:] += S[row, from:to] * V[from:to, column:] for `vectors` vectors and `count` rows of each entry.
  void addValues(llvm::ArrayRef<QueryTile> rows, int64_t count, Value column, int64_t vectors, Value from, Value to,
                 const Prefetch &prefetch = nullptr, const PartialEnds &ends = {});

  Value partial;  // P, [rows, padded width]

private:
  Values loadSums(llvm::ArrayRef<Values> indices, Value isFirst);
  void storeSums(Values sums, llvm::ArrayRef<Values> indices, const PartialEnds &ends);

  Emitter &e;
  const kernel::KvLayout &layout;
  const KvStorage &panels;
  const AttentionSoftmax &softmax;
};

}  // namespace talc
