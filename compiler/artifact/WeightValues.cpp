// SPDX-License-Identifier: Apache-2.0
// Shapes of weights as matrices, and rounding to an element type.
#include "compiler/artifact/WeightValues.h"

#include "compiler/artifact/FloatFormats.h"

namespace talc {

WeightValues::~WeightValues() = default;

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

template <uint16_t (*encode)(float), float (*decode)(uint16_t)> class Rounded : public WeightValues {
public:
  explicit Rounded(WeightValuesPtr values) : WeightValues(values->shape), values(std::move(values)) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    values->read(tile, out, stride);
    for (int64_t row = 0; row < tile.rows; ++row)
      for (int64_t column = 0; column < tile.columns; ++column)
        out[row * stride + column] = decode(encode(out[row * stride + column]));
  }

private:
  WeightValuesPtr values;
};

}  // namespace

WeightValuesPtr roundedValues(WeightValuesPtr values, mlir::Type elementType) {
  if (elementType.isF16())
    return std::make_shared<Rounded<encodeF16, decodeF16>>(std::move(values));
  if (elementType.isBF16())
    return std::make_shared<Rounded<encodeBf16, decodeBf16>>(std::move(values));
  return values;
}

}  // namespace talc
