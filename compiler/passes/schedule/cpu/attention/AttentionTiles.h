// SPDX-License-Identifier: Apache-2.0
// The two products of attention as register tiles: queries and keys, weights and values.
#pragma once

#include "compiler/passes/schedule/cpu/attention/AttentionSoftmax.h"

namespace talc {

// Some rows of a task, from `first` on, and the block of keys and values that they see.
struct TileRows {
  mlir::Value first;
  KvBlock block;
};

// How the sums P of a tile begin and end in a part of the keys that it sees.
struct PartEnds {
  mlir::Value begins;  // an i1: it is the first part, and P holds nothing yet; null: P always holds sums
  mlir::Value ends;    // an i1: it is the last one, after which the sums are no longer needed in P; null: never
  // Leaves the sums of a row from a column on where they go then.
  std::function<void(mlir::Value row, mlir::Value column, mlir::Value sums)> leave = nullptr;
};

// Tiles are given as one entry of rows or, of rows that are few, several, which go through one loop: their chains of
// multiply-adds hide each other's latency. Every entry has as many rows.
class AttentionTiles {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;
  // What is fetched beside step k of a panel: of keys a feature and those up to the next iteration's, of values a key.
  using Fetch = std::function<void(Value panel, Value k)>;

  // For tasks of up to `rows` rows, whose scores `softmax` has.
  AttentionTiles(Emitter &emitter, const KvView &keys, const AttentionSoftmax &softmax, int64_t rows);

  // Panels of so many tokens that a tile of so many rows takes side by side.
  static int64_t widestTile(int64_t rows, const IsaTraits &traits, int64_t tokens);
  int64_t widestTile(int64_t rows) const { return widestTile(rows, e.traits, layout.tokens); }
  // Features that an iteration of a product with keys takes.
  int64_t keySteps() const;
  // Vectors of a panel.
  int64_t perPanel() const { return layout.tokens / e.lanes; }

  // S[row, key] = query[row] * K[:, key] for the keys of `vectors` vectors from `panel` on. The queries, [width] each,
  // are those of the entries' rows one after the other.
  void computeScores(llvm::ArrayRef<TileRows> rows, llvm::ArrayRef<Value> queries, Value panel, int64_t vectors,
                     const Fetch &fetch = nullptr);

  // Runs body(first column, vectors) for the columns of P, in parts that a tile of so many rows takes.
  void eachColumns(int64_t rows, llvm::function_ref<void(Value column, int64_t vectors)> body);
  // P[row, column:] += S[row, from:to] * V[from:to, column:] for `vectors` vectors and `count` rows of each entry.
  void addValues(llvm::ArrayRef<TileRows> rows, int64_t count, Value column, int64_t vectors, Value from, Value to,
                 const Fetch &fetch = nullptr, const PartEnds &ends = {});

  Value part;  // P, [rows, padded width]

private:
  Values beginSums(llvm::ArrayRef<Values> places, Value begins);
  void endSums(Values sums, llvm::ArrayRef<Values> places, const PartEnds &ends);

  Emitter &e;
  const kernel::KvLayout &layout;
  const KvStorage &panels;
  const AttentionSoftmax &softmax;
};

}  // namespace talc
