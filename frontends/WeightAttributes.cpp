// SPDX-License-Identifier: Apache-2.0
// Writes where the values of a weight lie as attributes of the dialect.
#include "frontends/Graph.h"

#include "dialects/talc/LookupSource.h"

using namespace mlir;

namespace talc {

static CodesAttr codesAttr(MLIRContext *context, const std::optional<CodeTable> &table) {
  if (!table)
    return {};
  return CodesAttr::get(context, table->file, table->offset, static_cast<CodeKind>(table->kind), table->bits,
                        static_cast<CodeOrder>(table->order), table->stride, table->transposed);
}

static Attribute quantizedAttr(MLIRContext *context, const QuantizedWeight &weight) {
  auto type = [&](FormatRef format) { return format->type(context, *format); };
  auto codes = [&](const std::optional<CodeTable> &table) { return codesAttr(context, table); };
  return QuantizedSourceAttr::get(context, type(weight.format), type(weight.rounded), codes(weight.codes),
                                  codes(weight.scales), weight.rows, weight.columns, weight.center, codes(weight.zeros),
                                  codes(weight.groups), codes(weight.factor), weight.divides);
}

static Attribute lookupAttr(OpBuilder &builder, const LookupWeight &weight) {
  MLIRContext *context = builder.getContext();
  auto type = [&](FormatRef format) { return format ? format->type(context, *format) : Type(); };
  auto number = [&](std::optional<float> value) { return value ? builder.getF32FloatAttr(*value) : FloatAttr(); };
  auto entries = RankedTensorType::get(static_cast<int64_t>(weight.table.size()), builder.getF32Type());
  auto table =
      weight.table.empty() ? DenseElementsAttr() : DenseElementsAttr::get(entries, llvm::ArrayRef(weight.table));
  std::optional<CodeTable> scaleTable, scaleFactors;
  std::optional<float> offset;
  if (weight.scaleCodes) {
    scaleTable = weight.scaleCodes->table;
    scaleFactors = weight.scaleCodes->factors;
    offset = weight.scaleCodes->offset;
  }
  return LookupSourceAttr::get(context, type(weight.rounded), codesAttr(context, weight.codes), weight.run,
                               codesAttr(context, weight.scales), table, type(weight.scaleFormat),
                               codesAttr(context, scaleTable), codesAttr(context, scaleFactors),
                               weight.scaleCodes ? weight.scaleCodes->run : 0, number(offset), number(weight.factor));
}

Attribute sourceAttr(OpBuilder &builder, const WeightOrigin &origin) {
  MLIRContext *context = builder.getContext();
  if (auto *stored = std::get_if<StoredWeight>(&origin)) {
    const StorageFormat &format = stored->format;
    return FileSourceAttr::get(context, stored->file, stored->offset, format.type(context, format));
  }
  if (auto *random = std::get_if<RandomWeight>(&origin))
    return RandomSourceAttr::get(context, random->seed, llvm::APFloat(random->mean), llvm::APFloat(random->deviation));
  if (auto *quantized = std::get_if<QuantizedWeight>(&origin))
    return quantizedAttr(context, *quantized);
  if (auto *lookup = std::get_if<LookupWeight>(&origin))
    return lookupAttr(builder, *lookup);
  return FillSourceAttr::get(context, llvm::APFloat(std::get<FilledWeight>(origin).value));
}

}  // namespace talc
