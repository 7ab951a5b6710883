// SPDX-License-Identifier: Apache-2.0
// Shapes of weights as matrices, and rounding to a storage format.
#include "compiler/artifact/weights/WeightValues.h"

#include "dialects/Invariant.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <vector>

namespace talc {

WeightValues::~WeightValues() = default;

void WeightValues::readBlocks(Tile, uint8_t *) const {
  endByDefect("these values lie in blocks");
}

MatrixShape matrixShape(mlir::RankedTensorType type) {
  MatrixShape shape{1, 1};
  llvm::ArrayRef<int64_t> sizes = type.getShape();
  if (sizes.empty())
    return shape;
  shape.rows = sizes.front();
  for (int64_t size : sizes.drop_front())
    shape.columns *= size;
  return shape;
}

namespace {

class Rounded : public WeightValues {
public:
  Rounded(WeightValuesPtr values, const StorageFormat &format, int64_t lanes)
      : WeightValues(values->shape), values(std::move(values)), format(format), lanes(lanes) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    Tile wide = withWholeBlocks(tile);
    if (wide.columns == tile.columns)
      return readWhole(tile, out, stride);
    std::vector<float> block(wide.rows * wide.columns);
    readWhole(wide, block.data(), wide.columns);
    for (int64_t row = 0; row < tile.rows; ++row)
      std::copy_n(block.data() + row * wide.columns + tile.column - wide.column, tile.columns, out + row * stride);
  }

private:
  Tile withWholeBlocks(Tile tile) const {
    int64_t unit = format.unit(lanes), first = tile.column / unit * unit;
    int64_t end = llvm::alignTo(tile.column + tile.columns, unit);
    return {tile.row, first, tile.rows, end - first};
  }

  void readWhole(Tile tile, float *out, int64_t stride) const {
    values->read(tile, out, stride);
    std::vector<uint8_t> bytes(format.byteSize(tile.columns));
    for (int64_t row = 0; row < tile.rows; ++row) {
      if (!format.encode(out + row * stride, tile.columns, lanes, bytes.data()))
        std::fill(bytes.begin(), bytes.end(), noNumber);
      format.decode(bytes.data(), tile.columns, lanes, out + row * stride);
    }
  }

  WeightValuesPtr values;
  const StorageFormat &format;
  const int64_t lanes;
};

}  // namespace

WeightValuesPtr roundedValues(WeightValuesPtr values, const StorageFormat &format, int64_t lanes) {
  if (format.exact)
    return values;
  return std::make_shared<Rounded>(std::move(values), format, lanes);
}

}  // namespace talc
