// SPDX-License-Identifier: Apache-2.0
// Reads tiles of files, of pseudo-random matrices and of values written in the program.
#include "compiler/artifact/WeightSources.h"

#include "compiler/artifact/FloatFormats.h"
#include "compiler/artifact/RandomWeights.h"

#include <algorithm>

namespace talc {

namespace {

template <float (*decode)(uint16_t)> void decodeRun(const uint8_t *bytes, int64_t count, float *out) {
  for (int64_t i = 0; i < count; ++i) {
    uint16_t half;  // the bytes may be unaligned
    std::memcpy(&half, bytes + 2 * i, sizeof(half));
    out[i] = decode(half);
  }
}

void copyRun(const uint8_t *bytes, int64_t count, float *out) {
  std::memcpy(out, bytes, count * sizeof(float));
}

using RunReader = void (*)(const uint8_t *, int64_t, float *);

class FileValues : public WeightValues {
public:
  FileValues(std::shared_ptr<const MappedFile> file, int64_t offset, mlir::Type type, MatrixShape shape)
      : WeightValues(shape), file(std::move(file)), elementBytes(type.getIntOrFloatBitWidth() / 8) {
    first = this->file->bytes().data() + offset;
    reader = type.isF16() ? decodeRun<decodeF16> : type.isBF16() ? decodeRun<decodeBf16> : copyRun;
  }

  void read(Tile tile, float *out, int64_t stride) const override {
    bool oneRun = tile.columns == shape.columns && stride == tile.columns;
    int64_t runs = oneRun ? 1 : tile.rows, length = oneRun ? tile.rows * tile.columns : tile.columns;
    for (int64_t run = 0; run < runs; ++run) {
      int64_t element = (tile.row + run) * shape.columns + tile.column;
      reader(first + element * elementBytes, length, out + run * stride);
    }
  }

private:
  std::shared_ptr<const MappedFile> file;
  int64_t elementBytes;
  const uint8_t *first;
  RunReader reader;
};

class RandomValues : public WeightValues {
public:
  RandomValues(uint64_t seed, double mean, double deviation, MatrixShape shape)
      : WeightValues(shape), seed(seed), mean(mean), deviation(deviation) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    for (int64_t row = 0; row < tile.rows; ++row) {
      uint64_t element = (tile.row + row) * shape.columns + tile.column;
      for (int64_t column = 0; column < tile.columns; ++column)
        out[row * stride + column] =
            static_cast<float>(mean + deviation * static_cast<double>(randomUniform(seed, element + column)));
    }
  }

private:
  uint64_t seed;
  double mean, deviation;
};

class FillValues : public WeightValues {
public:
  FillValues(float value, MatrixShape shape) : WeightValues(shape), value(value) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    for (int64_t row = 0; row < tile.rows; ++row)
      std::fill_n(out + row * stride, tile.columns, value);
  }

private:
  float value;
};

class ListedValues : public WeightValues {
public:
  ListedValues(std::vector<float> values, MatrixShape shape) : WeightValues(shape), values(std::move(values)) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    for (int64_t row = 0; row < tile.rows; ++row)
      std::copy_n(values.data() + (tile.row + row) * shape.columns + tile.column, tile.columns, out + row * stride);
  }

private:
  std::vector<float> values;
};

}  // namespace

WeightValuesPtr fileValues(std::shared_ptr<const MappedFile> file, int64_t offset, mlir::Type elementType,
                           MatrixShape shape) {
  return std::make_shared<FileValues>(std::move(file), offset, elementType, shape);
}

WeightValuesPtr randomValues(uint64_t seed, double mean, double deviation, MatrixShape shape) {
  return std::make_shared<RandomValues>(seed, mean, deviation, shape);
}

WeightValuesPtr fillValues(float value, MatrixShape shape) {
  return std::make_shared<FillValues>(value, shape);
}

WeightValuesPtr listedValues(std::vector<float> values, MatrixShape shape) {
  return std::make_shared<ListedValues>(std::move(values), shape);
}

}  // namespace talc
