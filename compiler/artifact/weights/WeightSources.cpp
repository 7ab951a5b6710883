// SPDX-License-Identifier: Apache-2.0
// Reads tiles of files, of pseudo-random matrices and of values written in the program.
#include "compiler/artifact/weights/WeightSources.h"

#include "compiler/artifact/weights/RandomUniform.h"

#include "llvm/Support/MathExtras.h"

#include <algorithm>

namespace talc {

namespace {

class FileValues : public WeightValues {
public:
  FileValues(std::shared_ptr<const MappedFile> file, int64_t offset, const StorageFormat &format, MatrixShape shape)
      : WeightValues(shape), file(std::move(file)), format(format), first(this->file->bytes().data() + offset) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    bool oneRun = tile.columns == shape.columns && stride == tile.columns;
    int64_t runs = oneRun ? 1 : tile.rows, length = oneRun ? tile.rows * tile.columns : tile.columns;
    for (int64_t run = 0; run < runs; ++run)
      readRun((tile.row + run) * shape.columns + tile.column, length, out + run * stride);
  }

  const StorageFormat *blocks() const override { return format.blockValues > 1 ? &format : nullptr; }

  void readBlocks(Tile tile, uint8_t *out) const override {
    int64_t bytes = format.byteSize(tile.columns);
    for (int64_t row = tile.row; row < tile.row + tile.rows; ++row, out += bytes)
      std::copy_n(first + format.byteSize(row * shape.columns + tile.column), bytes, out);
  }

private:
  // A tile may begin or end inside of a block.
  void readRun(int64_t element, int64_t length, float *out) const {
    int64_t before = element % format.blockValues, whole = llvm::alignTo(before + length, format.blockValues);
    const uint8_t *bytes = first + format.byteSize(element - before);
    if (whole == length)
      return format.decode(bytes, length, 1, out);
    std::vector<float> values(whole);
    format.decode(bytes, whole, 1, values.data());
    std::copy_n(values.data() + before, length, out);
  }

  std::shared_ptr<const MappedFile> file;
  const StorageFormat &format;
  const uint8_t *first;
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

WeightValuesPtr fileValues(std::shared_ptr<const MappedFile> file, int64_t offset, const StorageFormat &format,
                           MatrixShape shape) {
  return std::make_shared<FileValues>(std::move(file), offset, format, shape);
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
