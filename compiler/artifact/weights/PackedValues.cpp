// SPDX-License-Identifier: Apache-2.0
// The recipe #talc.pack: a matrix as panels of `lanes` rows, in which the values of one column lie side by side.
//
//   source [N, K]                 panels [ceil(N/2), K, 2], for 2 lanes
//     a0 a1 a2                      a0 b0 a1 b1 a2 b2
//     b0 b1 b2          ->          c0  0 c1  0 c2  0
//     c0 c1 c2
#include "compiler/artifact/weights/WeightRecipes.h"

#include <algorithm>

namespace talc {

namespace {

constexpr int64_t blockElements = 16384;

class Packed : public WeightValues {
public:
  Packed(WeightValuesPtr source, int64_t lanes)
      : WeightValues({(source->shape.rows + lanes - 1) / lanes, source->shape.columns * lanes}),
        source(std::move(source)), lanes(lanes) {}

  void read(Tile tile, float *out, int64_t stride) const override;

  const StorageFormat *blocks() const override { return source->blocks(); }
  void readBlocks(Tile tile, uint8_t *out) const override;

private:
  struct Block {
    int64_t panel, depth, panels, depths;  // source rows [panel * lanes, ...), columns [depth, ...)
  };
  void scatter(const Block &block, const float *values, const Tile &tile, float *out, int64_t stride) const;

  WeightValuesPtr source;
  int64_t lanes;
};

void Packed::read(Tile tile, float *out, int64_t stride) const {
  // Several panels at once, because a transposed source is read in pieces of that many neighboring values.
  int64_t panelsPerBlock = std::max<int64_t>(1, 64 / lanes);
  int64_t depthsPerBlock = std::max<int64_t>(1, blockElements / (panelsPerBlock * lanes));
  std::vector<float> values(panelsPerBlock * lanes * depthsPerBlock);
  int64_t panelEnd = tile.row + tile.rows, depthEnd = (tile.column + tile.columns + lanes - 1) / lanes;
  for (int64_t panel = tile.row; panel < panelEnd; panel += panelsPerBlock)
    for (int64_t depth = tile.column / lanes; depth < depthEnd; depth += depthsPerBlock) {
      Block block{panel, depth, std::min(panelsPerBlock, panelEnd - panel), std::min(depthsPerBlock, depthEnd - depth)};
      int64_t rows = std::min(block.panels * lanes, source->shape.rows - panel * lanes);
      std::fill(values.begin() + rows * block.depths, values.end(), 0.0f);
      source->read({panel * lanes, depth, rows, block.depths}, values.data(), block.depths);
      scatter(block, values.data(), tile, out, stride);
    }
}

void Packed::scatter(const Block &block, const float *values, const Tile &tile, float *out, int64_t stride) const {
  for (int64_t panel = 0; panel < block.panels; ++panel) {
    const float *rows = values + panel * lanes * block.depths;
    float *target = out + (block.panel + panel - tile.row) * stride;
    for (int64_t depth = 0; depth < block.depths; ++depth) {
      int64_t column = (block.depth + depth) * lanes - tile.column;  // of lane 0 in the tile
      int64_t begin = std::max<int64_t>(0, -column), end = std::min(lanes, tile.columns - column);
      for (int64_t lane = begin; lane < end; ++lane)
        target[column + lane] = rows[lane * block.depths + depth];
    }
  }
}

// Every block of a panel, which has a block of each lane.
void Packed::readBlocks(Tile tile, uint8_t *out) const {
  const StorageFormat &format = *blocks();
  int64_t depth = tile.column / lanes, depths = tile.columns / lanes, stride = format.byteSize(depths);
  std::vector<uint8_t> rows(lanes * stride);
  for (int64_t panel = tile.row; panel < tile.row + tile.rows; ++panel) {
    int64_t present = std::min(lanes, source->shape.rows - panel * lanes);
    std::fill(rows.begin() + present * stride, rows.end(), 0);
    source->readBlocks({panel * lanes, depth, present, depths}, rows.data());
    for (int64_t block = 0; block < depths / format.blockValues; ++block, out += lanes * format.blockBytes)
      interleaveBlocks(format.fields, rows.data() + block * format.blockBytes, stride, lanes, out);
  }
}

}  // namespace

WeightValuesPtr packedValues(WeightValuesPtr source, int64_t lanes) {
  return std::make_shared<Packed>(std::move(source), lanes);
}

}  // namespace talc
