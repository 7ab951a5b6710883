// SPDX-License-Identifier: Apache-2.0
// Quantizes matrices to formats, and measures the error.
//
// A row w of a matrix is multiplied by activations x. If these are independent with mean squares s, the product has the
// mean square sum s w^2, and quantizing w to v adds sum s (v - w)^2. Without s, all features count alike. The rows of
// an embedding table are looked up one by one, and norms remove their magnitude: there the relative errors of the rows
// are averaged.
#include "compiler/passes/optimize/FormatBudget.h"

#include "compiler/artifact/weights/Importance.h"
#include "compiler/artifact/weights/WeightRange.h"

#include <cmath>

using namespace mlir;

namespace talc {

namespace {

// Rows of a matrix; an evenly spaced sample if it is large.
struct Sample {
  int64_t columns;
  std::vector<float> values;
  std::vector<const float *> importance;  // of each row; null: all columns count alike
  const StorageFormat *exact;             // the format of the file; null: none that represents the values exactly
  bool isTable;
};

llvm::Expected<Sample> readSample(WeightOp matrix, bool isTable, WeightGraph &graph) {
  constexpr int64_t maxValues = 1 << 18;
  auto values = graph.values(matrix);
  if (!values)
    return values.takeError();
  MatrixShape shape = (*values)->shape;
  auto importance = Importance::of(matrix, shape);
  if (!importance)
    return importance.takeError();
  int64_t count = std::clamp<int64_t>(maxValues / std::max<int64_t>(shape.columns, 1), 1, shape.rows);
  Sample sample{shape.columns, std::vector<float>(count * shape.columns), {}, (*values)->blocks(), isTable};
  for (int64_t i = 0; i < count; ++i) {
    int64_t row = i * shape.rows / count;
    (*values)->read({row, 0, 1, shape.columns}, sample.values.data() + i * shape.columns, shape.columns);
    sample.importance.push_back(importance->row(row));
  }
  return sample;
}

// Infinite if values are too large for the format.
double relativeError(const Sample &sample, const StorageFormat &format) {
  if (sample.exact == &format)
    return 0;
  std::vector<uint8_t> bytes(format.byteSize(sample.columns));
  std::vector<float> rounded(sample.columns);
  double allNoise = 0, allSignal = 0, shares = 0;
  const float *row = sample.values.data();
  for (const float *importance : sample.importance) {
    if (!encodeRow(format, row, sample.columns, importance, meanSquare(row, sample.columns), bytes.data()))
      return HUGE_VAL;
    format.decode(bytes.data(), sample.columns, 1, rounded.data());
    double noise = 0, signal = 0;
    for (int64_t i = 0; i < sample.columns; ++i, ++row) {
      double value = *row, difference = rounded[i] - value, weight = importance ? importance[i] : 1;
      noise += weight * difference * difference;
      signal += weight * value * value;
    }
    allNoise += noise;
    allSignal += signal;
    shares += signal > 0 ? noise / signal : 0;
  }
  if (sample.isTable)
    return shares / static_cast<double>(sample.importance.size());
  return allSignal > 0 ? allNoise / allSignal : 0;
}

}  // namespace

llvm::Expected<std::vector<FormatCost>> measureFormats(const FormatUnit &unit, llvm::ArrayRef<FormatRef> formats,
                                                       int64_t multiplied, WeightGraph &graph) {
  std::vector<FormatCost> costs;
  for (FormatRef format : formats)
    costs.push_back({format, 0, 0});
  double probed = 0;
  for (Operation *op : unit.matrices) {
    WeightOp matrix = cast<WeightOp>(op);
    auto sample = readSample(matrix, unit.tables.contains(op), graph);
    if (!sample)
      return sample.takeError();
    const StorageFormat &first = formatForRows(*formats.front(), sample->columns);
    if (!areStorableValues(sample->values, /*inVector=*/false))
      return outOfRangeError(matrix, first, graph);
    int64_t values = cast<RankedTensorType>(matrix.getType()).getNumElements();
    // All layers read the rows of an embedding table, so that it counts at least as much as all matrices that multiply
    // these. Tables of positions and of token types belong to no unit.
    int64_t counted = sample->isTable ? std::max(values, multiplied) : values;
    auto errorOf = [&](const StorageFormat &format) {
      return static_cast<double>(counted) * relativeError(*sample, format);
    };
    for (FormatCost &cost : costs) {
      const StorageFormat &format = formatForRows(*cost.format, sample->columns);
      cost.bits += 8 * format.byteSize(values);
      cost.error += errorOf(format);
    }
    if (llvm::all_of(costs, [](const FormatCost &cost) { return std::isinf(cost.error); }))
      return outOfRangeError(matrix, first, graph);
    if (matrix->hasAttr(divergenceAttr))
      probed += errorOf(formatForRows(*findStorageFormat(probeFormat), sample->columns));
  }
  // Predictions diverge in proportion to squared errors.
  if (auto divergence = unit.matrices.front()->getAttrOfType<FloatAttr>(divergenceAttr))
    for (FormatCost &cost : costs)
      cost.error *= probed > 0 ? divergence.getValueAsDouble() / probed : 0;
  return costs;
}

}  // namespace talc
