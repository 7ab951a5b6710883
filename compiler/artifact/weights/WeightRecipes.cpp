// SPDX-License-Identifier: Apache-2.0
// Evaluates recipes tile by tile: a recipe asks its sources for blocks of about 64 KiB and rearranges them.
#include "compiler/artifact/weights/WeightRecipes.h"

#include <algorithm>

namespace talc {

namespace {

constexpr int64_t blockElements = 16384;

void clearRows(float *out, int64_t stride, int64_t rows, int64_t columns) {
  for (int64_t row = 0; row < rows; ++row)
    std::fill_n(out + row * stride, columns, 0.0f);
}

// The format that all sources have their values in.
const StorageFormat *commonBlocks(llvm::ArrayRef<WeightValuesPtr> sources) {
  const StorageFormat *format = sources.front()->blocks();
  auto differs = [&](const WeightValuesPtr &source) { return source->blocks() != format; };
  return std::any_of(sources.begin(), sources.end(), differs) ? nullptr : format;
}

class Transposed : public WeightValues {
public:
  explicit Transposed(WeightValuesPtr source)
      : WeightValues({source->shape.columns, source->shape.rows}), source(std::move(source)) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    constexpr int64_t blockRows = 64, blockColumns = blockElements / blockRows;
    std::vector<float> block(blockElements);
    for (int64_t row = 0; row < tile.rows; row += blockRows)
      for (int64_t column = 0; column < tile.columns; column += blockColumns) {
        int64_t rows = std::min(blockRows, tile.rows - row), columns = std::min(blockColumns, tile.columns - column);
        source->read({tile.column + column, tile.row + row, columns, rows}, block.data(), rows);
        transposeBlock(block.data(), rows, columns, out + row * stride + column, stride);
      }
  }

private:
  static void transposeBlock(const float *block, int64_t rows, int64_t columns, float *out, int64_t stride) {
    for (int64_t row = 0; row < rows; ++row)
      for (int64_t column = 0; column < columns; ++column)
        out[row * stride + column] = block[column * rows + row];
  }

  WeightValuesPtr source;
};

class Concatenated : public WeightValues {
public:
  Concatenated(std::vector<WeightValuesPtr> sources, MatrixShape shape)
      : WeightValues(shape), sources(std::move(sources)) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    eachSource(tile, [&](const WeightValues &source, Tile part, int64_t row) {
      source.read(part, out + row * stride, stride);
    });
  }

  const StorageFormat *blocks() const override { return commonBlocks(sources); }

  void readBlocks(Tile tile, uint8_t *out) const override {
    int64_t bytes = blocks()->byteSize(tile.columns);
    eachSource(tile,
               [&](const WeightValues &source, Tile part, int64_t row) { source.readBlocks(part, out + row * bytes); });
  }

private:
  // read(source, its part of the tile, the part's first row in the tile)
  void eachSource(Tile tile, llvm::function_ref<void(const WeightValues &, Tile, int64_t)> read) const {
    int64_t first = 0;  // row of the current source
    for (const WeightValuesPtr &source : sources) {
      int64_t begin = std::max(tile.row, first), end = std::min(tile.row + tile.rows, first + source->shape.rows);
      if (begin < end)
        read(*source, {begin - first, tile.column, end - begin, tile.columns}, begin - tile.row);
      first += source->shape.rows;
    }
  }

  std::vector<WeightValuesPtr> sources;
};

class Interleaved : public WeightValues {
public:
  Interleaved(WeightValuesPtr first, WeightValuesPtr second, int64_t group, MatrixShape shape)
      : WeightValues(shape), sources{std::move(first), std::move(second)}, group(group) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    eachGroup(tile, [&](const WeightValues &source, Tile part, int64_t row, int64_t missing) {
      if (part.rows > 0)
        source.read(part, out + row * stride, stride);
      clearRows(out + (row + part.rows) * stride, stride, missing, tile.columns);
    });
  }

  const StorageFormat *blocks() const override { return commonBlocks(sources); }

  void readBlocks(Tile tile, uint8_t *out) const override {
    int64_t bytes = blocks()->byteSize(tile.columns);
    eachGroup(tile, [&](const WeightValues &source, Tile part, int64_t row, int64_t missing) {
      if (part.rows > 0)
        source.readBlocks(part, out + row * bytes);
      std::fill_n(out + (row + part.rows) * bytes, missing * bytes, 0);
    });
  }

private:
  // read(source, rows of one of its groups, their first row in the tile, rows behind them that the source lacks)
  void eachGroup(Tile tile, llvm::function_ref<void(const WeightValues &, Tile, int64_t, int64_t)> read) const {
    for (int64_t done = 0; done < tile.rows;) {
      int64_t row = tile.row + done, place = row % group;
      int64_t rows = std::min(group - place, tile.rows - done);
      const WeightValues &source = *sources[row / group % 2];
      int64_t first = row / (2 * group) * group + place;
      int64_t present = std::clamp<int64_t>(source.shape.rows - first, 0, rows);
      read(source, {first, tile.column, present, tile.columns}, done, rows - present);
      done += rows;
    }
  }

  WeightValuesPtr sources[2];
  int64_t group;
};

class Padded : public WeightValues {
public:
  Padded(WeightValuesPtr source, int64_t rows)
      : WeightValues({rows, source->shape.columns}), source(std::move(source)) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    int64_t present = std::clamp<int64_t>(source->shape.rows - tile.row, 0, tile.rows);
    if (present > 0)
      source->read({tile.row, tile.column, present, tile.columns}, out, stride);
    clearRows(out + present * stride, stride, tile.rows - present, tile.columns);
  }

  const StorageFormat *blocks() const override { return source->blocks(); }

  void readBlocks(Tile tile, uint8_t *out) const override {
    int64_t bytes = blocks()->byteSize(tile.columns);
    int64_t present = std::clamp<int64_t>(source->shape.rows - tile.row, 0, tile.rows);
    if (present > 0)
      source->readBlocks({tile.row, tile.column, present, tile.columns}, out);
    std::fill_n(out + present * bytes, (tile.rows - present) * bytes, 0);
  }

private:
  WeightValuesPtr source;
};

class ChosenRows : public WeightValues {
public:
  ChosenRows(WeightValuesPtr source, int64_t rows, std::function<int64_t(int64_t)> row)
      : WeightValues({rows, source->shape.columns}), source(std::move(source)), row(std::move(row)) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    eachRun(tile, [&](Tile part, int64_t row) { source->read(part, out + row * stride, stride); });
  }

  const StorageFormat *blocks() const override { return source->blocks(); }

  void readBlocks(Tile tile, uint8_t *out) const override {
    int64_t bytes = blocks()->byteSize(tile.columns);
    eachRun(tile, [&](Tile part, int64_t row) { source->readBlocks(part, out + row * bytes); });
  }

private:
  // read(rows of the source that stay neighbors, the first one's row in the tile)
  void eachRun(Tile tile, llvm::function_ref<void(Tile, int64_t)> read) const {
    for (int64_t done = 0, together; done < tile.rows; done += together) {
      int64_t first = row(tile.row + done);
      for (together = 1; done + together < tile.rows; ++together)
        if (row(tile.row + done + together) != first + together)
          break;
      read({first, tile.column, together, tile.columns}, done);
    }
  }

  WeightValuesPtr source;
  std::function<int64_t(int64_t)> row;
};

class Plus : public WeightValues {
public:
  Plus(WeightValuesPtr source, double value) : WeightValues(source->shape), source(std::move(source)), value(value) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    source->read(tile, out, stride);
    for (int64_t r = 0; r < tile.rows; ++r)
      for (int64_t c = 0; c < tile.columns; ++c)
        out[r * stride + c] = static_cast<float>(out[r * stride + c] + value);
  }

private:
  WeightValuesPtr source;
  double value;
};

class Gathered : public WeightValues {
public:
  Gathered(WeightValuesPtr source, std::vector<int32_t> rows)
      : WeightValues({source->shape.columns, static_cast<int64_t>(rows.size())}), source(std::move(source)),
        rows(std::move(rows)) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    std::vector<float> column(source->shape.rows);
    for (int64_t row = 0; row < tile.rows; ++row) {
      source->read({0, tile.row + row, source->shape.rows, 1}, column.data(), 1);
      for (int64_t c = 0; c < tile.columns; ++c)
        out[row * stride + c] = column[rows[tile.column + c]];
    }
  }

private:
  WeightValuesPtr source;
  std::vector<int32_t> rows;
};

}  // namespace

WeightValuesPtr transposedValues(WeightValuesPtr source) {
  return std::make_shared<Transposed>(std::move(source));
}

WeightValuesPtr concatenatedValues(std::vector<WeightValuesPtr> sources) {
  MatrixShape shape{0, sources.front()->shape.columns};
  for (const WeightValuesPtr &source : sources)
    shape.rows += source->shape.rows;
  return std::make_shared<Concatenated>(std::move(sources), shape);
}

WeightValuesPtr interleavedValues(WeightValuesPtr first, WeightValuesPtr second, int64_t group) {
  MatrixShape shape = first->shape;
  shape.rows = 2 * ((shape.rows + group - 1) / group) * group;
  return std::make_shared<Interleaved>(std::move(first), std::move(second), group, shape);
}

WeightValuesPtr paddedValues(WeightValuesPtr source, int64_t rows) {
  return std::make_shared<Padded>(std::move(source), rows);
}

WeightValuesPtr chosenRows(WeightValuesPtr source, int64_t rows, std::function<int64_t(int64_t)> row) {
  return std::make_shared<ChosenRows>(std::move(source), rows, std::move(row));
}

WeightValuesPtr plusValues(WeightValuesPtr source, double value) {
  return std::make_shared<Plus>(std::move(source), value);
}

WeightValuesPtr gatheredValues(WeightValuesPtr source, std::vector<int32_t> rows) {
  return std::make_shared<Gathered>(std::move(source), std::move(rows));
}

}  // namespace talc
