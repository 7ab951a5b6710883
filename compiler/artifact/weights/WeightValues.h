// SPDX-License-Identifier: Apache-2.0
// The values of a weight, readable in tiles, whether they are in a file or a recipe makes them of other weights.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cstdint>
#include <memory>

namespace talc {

// A weight seen as a matrix: its first dimension by the product of the others. A vector is one column.
struct MatrixShape {
  int64_t rows = 0, columns = 0;
  bool operator==(const MatrixShape &other) const { return rows == other.rows && columns == other.columns; }
};
MatrixShape matrixShape(mlir::RankedTensorType type);

// A rectangle of such a matrix.
struct Tile {
  int64_t row, column, rows, columns;
};

// Immutable; may be read by several threads at a time.
class WeightValues {
public:
  explicit WeightValues(MatrixShape shape) : shape(shape) {}
  virtual ~WeightValues();

  // Stores element (tile.row + r, tile.column + c) in out[r * stride + c]. The tile lies inside the matrix. A recipe
  // reads its sources in blocks that fit a core's cache, so that tiles may be large.
  virtual void read(Tile tile, float *out, int64_t stride) const = 0;

  // The block format in which a file has exactly these values, row by row; null if they come from anything else.
  // Decoding such blocks and encoding the values again could add a second rounding error.
  virtual const StorageFormat *blocks() const { return nullptr; }
  // The bytes of a tile of whole blocks of that format, row after row, as a weight of this shape stores them.
  virtual void readBlocks(Tile tile, uint8_t *out) const;

  const MatrixShape shape;
};

using WeightValuesPtr = std::shared_ptr<const WeightValues>;

// `values` rounded to a format by encoding and decoding them, in this many lanes.
WeightValuesPtr roundedValues(WeightValuesPtr values, const StorageFormat &format, int64_t lanes);

}  // namespace talc
