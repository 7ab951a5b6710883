// SPDX-License-Identifier: Apache-2.0
// Follows recipes from a weight to its sources. Rows that continue each other become one tile.
#include "compiler/artifact/weights/Rearrangement.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace talc {

namespace {

using Tiles = llvm::SmallVector<RearrangedTile>;

Tiles coverAll(WeightOp source) {
  MatrixShape shape = matrixShape(tensorType(source));
  return {{0, 0, shape.rows, shape.columns, source, 0, shape.columns, 1, 0}};
}

Tiles transpose(Tiles tiles) {
  for (RearrangedTile &tile : tiles) {
    std::swap(tile.row, tile.column);
    std::swap(tile.rows, tile.columns);
    std::swap(tile.rowStride, tile.columnStride);
  }
  return tiles;
}

// Appends a tile of one row, to the last tile if it continues that.
void appendRow(Tiles &tiles, const RearrangedTile &row) {
  if (!tiles.empty()) {
    RearrangedTile &last = tiles.back();
    int64_t stride = row.begin - last.begin - (last.rows - 1) * last.rowStride;
    bool isNext = last.source == row.source && last.row + last.rows == row.row && last.column == row.column &&
                  last.columns == row.columns && last.columnStride == row.columnStride && last.added == row.added &&
                  (last.rows == 1 ? stride >= 0 : stride == last.rowStride);
    if (isNext) {
      last.rowStride = stride;
      ++last.rows;
      return;
    }
  }
  tiles.push_back(row);
}

// Row r of the result is row sourceRow(r) of the source.
Tiles chooseRows(const Tiles &tiles, int64_t rows, llvm::function_ref<int64_t(int64_t)> sourceRow) {
  Tiles result;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t from = sourceRow(row);
    for (const RearrangedTile &tile : tiles) {
      int64_t index = from - tile.row;
      if (index < 0 || index >= tile.rows)
        continue;
      RearrangedTile one = tile;
      one.row = row;
      one.rows = 1;
      one.begin += index * tile.rowStride;
      appendRow(result, one);
    }
  }
  return result;
}

Tiles chooseRows(const Tiles &tiles, int64_t sourceRows, RowsRecipeAttr recipe) {
  int64_t first = recipe.getFirst(), count = recipe.getCount(), period = recipe.getPeriod();
  return chooseRows(tiles, sourceRows / period * count,
                    [=](int64_t row) { return row / count * period + first + row % count; });
}

Tiles splitHalves(const Tiles &tiles, int64_t rows, HalfSplitRecipeAttr recipe) {
  int64_t width = recipe.getWidth(), half = recipe.getRotary() / 2;
  return chooseRows(tiles, rows, [=](int64_t row) {
    int64_t index = row % width, head = row - index;
    if (index >= 2 * half)
      return row;
    return head + (index < half ? 2 * index : 2 * (index - half) + 1);
  });
}

// `group` rows of each of two matrices in turn.
Tiles interleave(const Tiles &first, const Tiles &second, int64_t rows, int64_t group) {
  Tiles result;
  for (int64_t row = 0; row < rows; ++row) {
    int64_t from = row / (2 * group) * group + row % group;
    for (RearrangedTile &tile : chooseRows(row / group % 2 == 0 ? first : second, 1, [=](int64_t) { return from; })) {
      tile.row = row;
      appendRow(result, tile);
    }
  }
  return result;
}

Tiles add(Tiles tiles, double value) {
  for (RearrangedTile &tile : tiles)
    tile.added += value;
  return tiles;
}

int64_t countRows(WeightOp weight) {
  return matrixShape(tensorType(weight)).rows;
}

}  // namespace

Rearrangements::Rearrangements(ModuleOp module, std::function<bool(WeightOp)> isSource)
    : isSource(std::move(isSource)) {
  for (auto weight : module.getOps<WeightOp>())
    symbols[weight.getSymName()] = weight;
}

WeightOp Rearrangements::operand(WeightOp weight, unsigned index) const {
  return symbols.lookup(cast<FlatSymbolRefAttr>((*weight.getOf())[index]).getValue());
}

llvm::Expected<Tiles> Rearrangements::find(WeightOp weight) {
  if (isSource(weight))
    return coverAll(weight);
  llvm::SmallVector<WeightOp> operands;
  llvm::SmallVector<Tiles> tiles;
  bool isConstant = true;
  for (unsigned i = 0, count = weight.getOf() ? weight.getOf()->size() : 0; i < count; ++i) {
    operands.push_back(operand(weight, i));
    auto part = find(operands.back());
    if (!part)
      return part.takeError();
    isConstant &= part->empty();
    tiles.push_back(std::move(*part));
  }
  if (isConstant)
    return Tiles();
  return llvm::TypeSwitch<Attribute, llvm::Expected<Tiles>>(weight.getSource())
      .Case([&](TransposeRecipeAttr) { return transpose(tiles[0]); })
      .Case([&](ConcatRecipeAttr) {
        Tiles all;
        int64_t row = 0;
        for (auto [source, part] : llvm::zip(operands, tiles)) {
          for (RearrangedTile tile : part) {
            tile.row += row;
            all.push_back(tile);
          }
          row += countRows(source);
        }
        return all;
      })
      .Case([&](InterleaveRecipeAttr recipe) {
        return interleave(tiles[0], tiles[1], countRows(weight), recipe.getGroup());
      })
      .Case<PadRecipeAttr, ConvertRecipeAttr>([&](auto) { return tiles[0]; })
      .Case([&](PlusRecipeAttr recipe) { return add(tiles[0], recipe.getValue().convertToDouble()); })
      .Case([&](RowsRecipeAttr recipe) { return chooseRows(tiles[0], countRows(operands[0]), recipe); })
      .Case([&](HalfSplitRecipeAttr recipe) { return splitHalves(tiles[0], countRows(weight), recipe); })
      .Default([&](Attribute) {
        return weightError(weight, "follows from trained weights by more than another order of their values, so that "
                                   "the model cannot be trained");
      });
}

}  // namespace talc
