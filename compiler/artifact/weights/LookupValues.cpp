// SPDX-License-Identifier: Apache-2.0
// Makes values of codes, or of entries of a table, and scales for runs of them.
#include "compiler/artifact/weights/WeightSources.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/LowBitTensor.h"
#include "compiler/artifact/weights/WeightGraph.h"

#include "llvm/Support/MathExtras.h"

#include <cstring>

#pragma STDC FP_CONTRACT OFF

using namespace mlir;

namespace talc {

namespace {

// Scales that are codes of a table themselves.
struct ScaleCodes {
  LowBitTensor table, factors;
  int64_t run;
  float offset;
};

class LookedUp : public WeightValues {
public:
  LookedUp(LookupSourceAttr source, LowBitTensor codes, LowBitTensor scales, std::optional<ScaleCodes> scaleCodes,
           MatrixShape shape)
      : WeightValues(shape), codes(std::move(codes)), scales(std::move(scales)), scaleCodes(std::move(scaleCodes)),
        rounded(*getStorageFormat(source.getElementType())),
        scaleFormat(source.getScaleType() ? getStorageFormat(source.getScaleType()) : nullptr), run(source.getRun()) {
    if (source.getTable())
      table.assign(source.getTable().value_begin<float>(), source.getTable().value_end<float>());
    if (source.getFactor())
      factor = static_cast<float>(source.getFactor().getValueAsDouble());
  }

  void read(Tile tile, float *out, int64_t stride) const override {
    for (int64_t row = 0; row < tile.rows; ++row)
      readRun((tile.row + row) * shape.columns + tile.column, tile.columns, out + row * stride);
  }

private:
  float numberAt(int64_t i) const {
    if (table.empty())
      return codes.number(0, i);
    return table[codes.code(0, codes.bits() == 4 ? i ^ 1 : i)];  // the upper half of a byte comes first
  }

  float scaleAt(int64_t number) const {
    if (scaleCodes) {
      float product =
          scaleCodes->table.number(0, scales.code(0, number)) * scaleCodes->factors.number(0, number / scaleCodes->run);
      return product + scaleCodes->offset;
    }
    float scale = scales.number(0, number);
    if (scaleFormat)
      round(*scaleFormat, &scale, 1);
    return scale;
  }

  static void round(const StorageFormat &format, float *values, int64_t count) {
    if (format.exact)
      return;
    std::vector<uint8_t> bytes(format.byteSize(count));
    format.encode(values, count, 1, bytes.data());
    format.decode(bytes.data(), count, 1, values);
  }

  void readRun(int64_t first, int64_t count, float *out) const {
    int64_t number = -1;
    float scale = 0;
    for (int64_t i = first; i < first + count; ++i) {
      if (i / run != number) {
        number = i / run;
        scale = scaleAt(number);
      }
      float product = numberAt(i) * scale;
      out[i - first] = factor ? product * *factor : product;
    }
    round(rounded, out, count);
  }

  const LowBitTensor codes, scales;
  const std::optional<ScaleCodes> scaleCodes;
  const StorageFormat &rounded, *scaleFormat;
  const int64_t run;
  std::vector<float> table;
  std::optional<float> factor;
};

}  // namespace

llvm::Expected<WeightValuesPtr> lookedUpValues(WeightOp weight, LookupSourceAttr source, FileOpener open) {
  auto openRow = [&](CodesAttr attr, int64_t count, const char *what) -> llvm::Expected<LowBitTensor> {
    auto file = open(attr.getPath());
    if (!file)
      return file.takeError();
    if (auto table = LowBitTensor::open(*file, attr, 1, count))
      return std::move(*table);
    return makeError(ErrorCode::WeightFile,
                     "{}: the {} of weight '{}', {} from byte {} on, do not fit in the file; was it downloaded "
                     "completely?",
                     attr.getPath().str(), what, weight.getSymName().str(), count, attr.getOffset());
  };
  MatrixShape shape = matrixShape(cast<RankedTensorType>(weight.getType()));
  int64_t count = shape.rows * shape.columns, runs = llvm::divideCeil(count, source.getRun());
  auto codes = openRow(source.getCodes(), llvm::alignTo(count, source.getCodes().getBits() == 4 ? 2 : 1), "codes");
  if (!codes)
    return codes.takeError();
  auto scales = openRow(source.getScales(), runs, "scales");
  if (!scales)
    return scales.takeError();
  std::optional<ScaleCodes> scaleCodes;
  if (source.getScaleTable()) {
    constexpr int64_t entries = 256;
    auto table = openRow(source.getScaleTable(), entries, "entries of the table of scales");
    if (!table)
      return table.takeError();
    auto factors = openRow(source.getScaleFactors(), llvm::divideCeil(runs, source.getScaleRun()), "factors of scales");
    if (!factors)
      return factors.takeError();
    FloatAttr offset = source.getScaleOffset();
    scaleCodes.emplace(ScaleCodes{std::move(*table), std::move(*factors), source.getScaleRun(),
                                  offset ? static_cast<float>(offset.getValueAsDouble()) : 0});
  }
  return std::make_shared<LookedUp>(source, std::move(*codes), std::move(*scales), std::move(scaleCodes), shape);
}

}  // namespace talc
