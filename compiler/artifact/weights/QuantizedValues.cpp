// SPDX-License-Identifier: Apache-2.0
// Makes values, or blocks, of codes and scales from separate tables.
#include "compiler/artifact/weights/WeightSources.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/LowBitTensor.h"
#include "compiler/artifact/weights/WeightGraph.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#pragma STDC FP_CONTRACT OFF

using namespace mlir;

namespace talc {

namespace {

struct Tables {
  LowBitTensor codes, scales;
  std::optional<LowBitTensor> zeros;
  std::vector<int32_t> groups;  // of every column
  std::optional<float> factor;
};

class Quantized : public WeightValues {
public:
  Quantized(QuantizedSourceAttr source, Tables tables, MatrixShape shape)
      : WeightValues(shape), tables(std::move(tables)), format(*getStorageFormat(source.getElementType())),
        rounded(*getStorageFormat(source.getRounded())), rows(source.getRows()),
        center(static_cast<int32_t>(source.getCenter())), divides(source.getDivides()),
        isFloat(source.getCodes().getKind() >= CodeKind::e2m1) {}

  void read(Tile tile, float *out, int64_t stride) const override {
    for (int64_t row = 0; row < tile.rows; ++row)
      readRow(tile.row + row, tile.column, tile.columns, out + row * stride);
  }

  const StorageFormat *blocks() const override { return format.blockValues > 1 ? &format : nullptr; }

  void readBlocks(Tile tile, uint8_t *out) const override {
    for (int64_t row = tile.row; row < tile.row + tile.rows; ++row)
      for (int64_t column = tile.column; column < tile.column + tile.columns;
           column += format.blockValues, out += format.blockBytes)
        assemble(row, column, out);
  }

private:
  int32_t zeroOf(int64_t row, int64_t group) const {
    return (tables.zeros ? tables.zeros->integer(row / rows, group) : 0) + center;
  }

  float scaleOf(int64_t row, int64_t group) const {
    float scale = tables.scales.number(row / rows, group);
    return !tables.factor ? scale : divides ? scale / *tables.factor : scale * *tables.factor;
  }

  void readRow(int64_t row, int64_t first, int64_t count, float *out) const {
    int32_t group = -1, zero = 0;
    float scale = 0;
    for (int64_t column = first; column < first + count; ++column) {
      if (tables.groups[column] != group) {
        group = tables.groups[column];
        zero = zeroOf(row, group);
        scale = scaleOf(row, group);
      }
      float code =
          isFloat ? tables.codes.number(row, column) : static_cast<float>(tables.codes.integer(row, column) - zero);
      out[column - first] = code * scale;
    }
    if (rounded.exact)
      return;
    // Products that are too large become infinite, which is reported when they are stored.
    std::vector<uint8_t> bytes(rounded.byteSize(count));
    rounded.encode(out, count, 1, bytes.data());
    rounded.decode(bytes.data(), count, 1, out);
  }

  // Codes and zero points of signed integers are shifted to start at zero.
  void assemble(int64_t row, int64_t first, uint8_t *block) const {
    llvm::SmallVector<int32_t, 256> codes;
    llvm::SmallVector<float, 16> scales;
    llvm::SmallVector<uint32_t, 16> scaleCodes;
    bool shifts = tables.zeros && tables.codes.isSigned();
    int32_t shift = shifts ? 1 << (tables.codes.bits() - 1) : 0;
    for (int64_t column = first; column < first + format.blockValues; ++column)
      codes.push_back(tables.codes.integer(row, column) + shift);
    for (int64_t column = first; column < first + format.blockValues; column += format.scaleValues) {
      scales.push_back(tables.scales.number(row / rows, tables.groups[column]));
      scaleCodes.push_back(tables.scales.code(row / rows, tables.groups[column]));
    }
    format.assemble({codes, zeroOf(row, tables.groups[first]) + shift, scales, scaleCodes, inverseFactor()}, block);
  }

  // Block formats multiply by a factor; the importer checks that the values are those of a division.
  float inverseFactor() const { return !tables.factor ? 1 : divides ? 1 / *tables.factor : *tables.factor; }

  const Tables tables;
  const StorageFormat &format;
  const StorageFormat &rounded;
  const int64_t rows;
  const int32_t center;
  const bool divides, isFloat;
};

class TableOpener {
public:
  TableOpener(WeightOp weight, FileOpener open) : weight(weight), opener(open) {}

  llvm::Expected<LowBitTensor> open(CodesAttr codes, int64_t rows, int64_t columns, const char *what) {
    auto file = opener(codes.getPath());
    if (!file)
      return file.takeError();
    if (auto table = LowBitTensor::open(*file, codes, rows, columns))
      return std::move(*table);
    return makeError(ErrorCode::WeightFile,
                     "{}: the {} of weight '{}', {} by {} from byte {} on, do not fit in the file; was it downloaded "
                     "completely?",
                     codes.getPath().str(), what, weight.getSymName().str(), rows, columns, codes.getOffset());
  }

private:
  WeightOp weight;
  FileOpener opener;
};

}  // namespace

// Reads the group of every column; there are as many groups as complete runs of columns.
static llvm::Expected<std::vector<int32_t>> readGroups(WeightOp weight, QuantizedSourceAttr source, int64_t columns,
                                                       TableOpener &opener) {
  int64_t count = llvm::divideCeil(columns, source.getColumns());
  std::vector<int32_t> groups(columns);
  for (int64_t column = 0; column < columns; ++column)
    groups[column] = static_cast<int32_t>(column / source.getColumns());
  if (!source.getGroups())
    return groups;
  auto table = opener.open(source.getGroups(), 1, columns, "groups");
  if (!table)
    return table.takeError();
  for (int64_t column = 0; column < columns; ++column) {
    groups[column] = table->integer(0, column);
    if (groups[column] < 0 || groups[column] >= count)
      return weightError(weight,
                         fmt::format("has column {} in group {}, expected 0 to {}", column, groups[column], count - 1));
  }
  return groups;
}

llvm::Expected<WeightValuesPtr> quantizedValues(WeightOp weight, QuantizedSourceAttr source, FileOpener open) {
  MatrixShape shape = matrixShape(cast<RankedTensorType>(weight.getType()));
  TableOpener opener(weight, open);
  auto groups = readGroups(weight, source, shape.columns, opener);
  if (!groups)
    return groups.takeError();
  int64_t rows = llvm::divideCeil(shape.rows, source.getRows()),
          columns = llvm::divideCeil(shape.columns, source.getColumns());
  auto codes = opener.open(source.getCodes(), shape.rows, shape.columns, "codes");
  if (!codes)
    return codes.takeError();
  auto scales = opener.open(source.getScales(), rows, columns, "scales");
  if (!scales)
    return scales.takeError();
  Tables tables{std::move(*codes), std::move(*scales), std::nullopt, std::move(*groups), std::nullopt};
  if (source.getZeros()) {
    auto zeros = opener.open(source.getZeros(), rows, columns, "zeros");
    if (!zeros)
      return zeros.takeError();
    tables.zeros = std::move(*zeros);
  }
  if (source.getFactor()) {
    auto factor = opener.open(source.getFactor(), 1, 1, "factors");
    if (!factor)
      return factor.takeError();
    tables.factor = factor->number(0, 0);
  }
  return std::make_shared<Quantized>(source, std::move(tables), shape);
}

}  // namespace talc
