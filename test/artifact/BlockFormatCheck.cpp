// SPDX-License-Identifier: Apache-2.0
// Reads and rounds values in a format of blocks, in every tile of a small matrix, and says which element is wrong.
// Checks which blocks of the formats of the table stand for values that these cannot hold.
#include "compiler/artifact/weights/WeightSources.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

using namespace talc;

namespace {

// Four values and their scale, the largest of them, are 4 signed bytes and a float; of several lanes all scales come
// first.
constexpr int64_t blockValues = 4, blockBytes = 8;

void decode(const uint8_t *bytes, int64_t count, int64_t lanes, float *values) {
  for (int64_t block = 0; block < count / (blockValues * lanes); ++block, bytes += lanes * blockBytes)
    for (int64_t i = 0; i < blockValues * lanes; ++i) {
      float scale;
      std::memcpy(&scale, bytes + i % lanes * sizeof(scale), sizeof(scale));
      values[block * blockValues * lanes + i] = scale * static_cast<int8_t>(bytes[lanes * sizeof(scale) + i]) / 127;
    }
}

bool encode(const float *values, int64_t count, int64_t lanes, uint8_t *bytes) {
  int64_t unit = blockValues * lanes;
  for (int64_t block = 0; block < count / unit; ++block, bytes += lanes * blockBytes, values += unit)
    for (int64_t lane = 0; lane < lanes; ++lane) {
      float scale = 0;
      for (int64_t i = lane; i < unit; i += lanes)
        scale = std::max(scale, std::fabs(values[i]));
      std::memcpy(bytes + lane * sizeof(scale), &scale, sizeof(scale));
      for (int64_t i = lane; i < unit; i += lanes)
        bytes[lanes * sizeof(scale) + i] = static_cast<uint8_t>(std::lround(scale > 0 ? values[i] / scale * 127 : 0));
    }
  return true;
}

const StorageFormat format = {"scaled", blockValues, blockBytes, /*exact=*/false, nullptr, decode, encode};

constexpr int64_t rows = 3, columns = 24, values = rows * columns;

// Whether every tile of `found` has the values of `expected`, [rows, columns].
bool agree(const char *what, const WeightValues &found, const std::vector<float> &expected) {
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      for (int64_t height = 1; height <= rows - row; ++height)
        for (int64_t width = 1; width <= columns - column; ++width) {
          std::vector<float> tile(height * width);
          found.read({row, column, height, width}, tile.data(), width);
          for (int64_t i = 0; i < height * width; ++i)
            if (tile[i] != expected[(row + i / width) * columns + column + i % width]) {
              std::printf("%s: element %d of the tile of %d x %d at [%d, %d] is wrong\n", what, int(i), int(height),
                          int(width), int(row), int(column));
              return false;
            }
        }
  return true;
}

bool haveNoNumbers() {
  bool good = true;
  for (const StorageFormat *format : storageFormats()) {
    std::vector<uint8_t> bytes(format->blockBytes, noNumber);
    std::vector<float> values(format->blockValues);
    format->decode(bytes.data(), format->blockValues, 1, values.data());
    if (!std::all_of(values.begin(), values.end(), [](float value) { return std::isnan(value); })) {
      std::printf("%s: a block of bytes 0xff has a value other than NaN\n", std::string(format->name).c_str());
      good = false;
    }
  }
  return good;
}

}  // namespace

int main(int, char **arguments) {
  std::vector<float> exact(values), rounded(values);
  for (int64_t i = 0; i < values; ++i)
    exact[i] = std::sin(static_cast<float>(i));
  std::vector<uint8_t> bytes(format.byteSize(values));
  auto listed = listedValues(exact, {rows, columns});
  bool good = haveNoNumbers();
  for (int64_t lanes : {1, 2, 3}) {
    format.encode(exact.data(), values, lanes, bytes.data());
    format.decode(bytes.data(), values, lanes, rounded.data());
    good = agree("rounded", *roundedValues(listed, format, lanes), rounded) && good;
  }
  constexpr int64_t offset = 3;
  format.encode(exact.data(), values, 1, bytes.data());
  format.decode(bytes.data(), values, 1, rounded.data());
  std::ofstream(arguments[1]).write("...", offset).write(reinterpret_cast<char *>(bytes.data()), bytes.size());
  auto file = MappedFile::open(arguments[1]);
  if (!file) {
    std::printf("%s\n", toString(file.takeError()).c_str());
    return 1;
  }
  good = agree("read", *fileValues(*file, offset, format, {rows, columns}), rounded) && good;
  return good ? 0 : 1;
}
