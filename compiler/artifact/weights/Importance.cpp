// SPDX-License-Identifier: Apache-2.0
// Rounds rows by the importance of their columns.
#include "compiler/artifact/weights/Importance.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/WeightGraph.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

// Everything that affects the bytes of blocks is rounded after every operation.
#pragma STDC FP_CONTRACT OFF

namespace talc {

llvm::Expected<Importance> Importance::of(WeightOp matrix, MatrixShape shape) {
  Importance result;
  auto array = matrix->getAttrOfType<mlir::DenseF32ArrayAttr>(importanceAttr);
  if (!array)
    return result;
  int64_t parts = shape.columns > 0 ? array.size() / shape.columns : 0;
  if (parts == 0 || parts * shape.columns != array.size() || shape.rows % parts != 0)
    return weightError(matrix,
                       fmt::format("has the importance of {} features, expected {}", array.size(), shape.columns));
  for (float value : array.asArrayRef())
    if (!(value >= 0) || !std::isfinite(value))
      return weightError(matrix, fmt::format("has a feature of importance {}, expected a number >= 0", value));
  result.all = array.asArrayRef();
  result.columns = shape.columns;
  result.rowsOfPart = std::max<int64_t>(1, shape.rows / parts);
  return result;
}

bool encodeRow(const StorageFormat &format, const float *values, int64_t count, const float *importance,
               float meanSquare, uint8_t *bytes) {
  return importance && format.encodeByImportance
             ? format.encodeByImportance(values, count, importance, meanSquare, bytes)
             : format.encode(values, count, /*lanes=*/1, bytes);
}

float meanSquare(const float *row, int64_t columns) {
  float sum = 0;
  for (int64_t i = 0; i < columns; ++i)
    sum += row[i] * row[i];
  return sum / static_cast<float>(columns);
}

namespace {

class Weighed : public WeightValues {
public:
  Weighed(WeightValuesPtr values, const StorageFormat &format, Importance importance)
      : WeightValues(values->shape), values(std::move(values)), format(format), importance(importance) {}

  const StorageFormat *blocks() const override { return &format; }

  // Whoever reads the blocks finds values that do not fit.
  void readBlocks(Tile tile, uint8_t *out) const override {
    std::vector<float> row(shape.columns);
    for (int64_t number = tile.row; number < tile.row + tile.rows; ++number) {
      values->read({number, 0, 1, shape.columns}, row.data(), shape.columns);
      const float *counts = importance.row(number);
      int64_t bytes = format.byteSize(tile.columns);
      if (!encodeRow(format, row.data() + tile.column, tile.columns, counts ? counts + tile.column : nullptr,
                     meanSquare(row.data(), shape.columns), out))
        std::fill_n(out, bytes, noNumber);
      out += bytes;
    }
  }

  void read(Tile tile, float *out, int64_t stride) const override {
    int64_t first = tile.column / format.blockValues * format.blockValues;
    int64_t count = llvm::alignTo(tile.column + tile.columns, format.blockValues) - first;
    std::vector<uint8_t> bytes(format.byteSize(count));
    std::vector<float> decoded(count);
    for (int64_t row = 0; row < tile.rows; ++row) {
      readBlocks({tile.row + row, first, 1, count}, bytes.data());
      format.decode(bytes.data(), count, 1, decoded.data());
      std::copy_n(decoded.data() + tile.column - first, tile.columns, out + row * stride);
    }
  }

private:
  WeightValuesPtr values;
  const StorageFormat &format;
  const Importance importance;
};

}  // namespace

WeightValuesPtr importanceWeightedValues(WeightValuesPtr values, const StorageFormat &format, Importance importance) {
  return std::make_shared<Weighed>(std::move(values), format, importance);
}

}  // namespace talc
