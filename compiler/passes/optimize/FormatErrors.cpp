// SPDX-License-Identifier: Apache-2.0
// Rounds matrices to formats, and compares.
//
// A row w of a matrix is multiplied by activations x. If these are independent with mean squares s, the product has the
// mean square sum s w^2, and rounding w to v adds sum s (v - w)^2. Without s, all features count alike.
#include "compiler/passes/optimize/FormatErrors.h"

#include "compiler/Error.h"

#include <cmath>

using namespace mlir;

namespace talc {

namespace {

// Rows of a matrix, evenly spaced if it is large.
struct Sample {
  int64_t rows, columns;
  std::vector<float> values, importance;
  const StorageFormat *exact;  // in which the file has the values

  double weightOf(int64_t place) const { return importance.empty() ? 1 : importance[place]; }
};

// For each of the sample's values.
llvm::Error readImportance(WeightOp matrix, MatrixShape shape, llvm::ArrayRef<int64_t> rows, Sample &sample) {
  auto array = matrix->getAttrOfType<DenseF32ArrayAttr>(importanceAttr);
  if (!array)
    return llvm::Error::success();
  int64_t parts = array.size() / shape.columns;
  if (parts == 0 || parts * shape.columns != array.size() || shape.rows % parts != 0)
    return refuse(matrix, fmt::format("has the importance of {} features, expected {}", array.size(), shape.columns));
  for (float value : array.asArrayRef())
    if (!(value >= 0) || !std::isfinite(value))
      return refuse(matrix, fmt::format("has a feature of importance {}, expected a number >= 0", value));
  for (int64_t row : rows) {
    auto part = array.asArrayRef().slice(row / (shape.rows / parts) * shape.columns, shape.columns);
    sample.importance.insert(sample.importance.end(), part.begin(), part.end());
  }
  return llvm::Error::success();
}

llvm::Expected<Sample> readSample(WeightOp matrix, WeightGraph &graph) {
  constexpr int64_t mostValues = 1 << 18;
  auto values = graph.values(matrix);
  if (!values)
    return values.takeError();
  MatrixShape shape = (*values)->shape;
  int64_t count = std::clamp<int64_t>(mostValues / std::max<int64_t>(shape.columns, 1), 1, shape.rows);
  Sample sample{count, shape.columns, std::vector<float>(count * shape.columns), {}, (*values)->blocks()};
  std::vector<int64_t> rows;
  for (int64_t i = 0; i < count; ++i) {
    rows.push_back(i * shape.rows / count);
    (*values)->read({rows.back(), 0, 1, shape.columns}, sample.values.data() + i * shape.columns, shape.columns);
  }
  if (llvm::Error error = readImportance(matrix, shape, rows, sample))
    return std::move(error);
  return sample;
}

// Infinite where values are too large for the format.
double relativeError(const Sample &sample, const StorageFormat &format) {
  if (sample.exact == &format)
    return 0;
  auto count = static_cast<int64_t>(sample.values.size());
  std::vector<uint8_t> bytes(format.bytesOf(count));
  std::vector<float> rounded(count);
  if (!format.encode(sample.values.data(), count, 1, bytes.data()))
    return HUGE_VAL;
  format.decode(bytes.data(), count, 1, rounded.data());
  double noise = 0, signal = 0;
  for (int64_t i = 0; i < count; ++i) {
    double value = sample.values[i], difference = rounded[i] - value;
    noise += sample.weightOf(i) * difference * difference;
    signal += sample.weightOf(i) * value * value;
  }
  return signal > 0 ? noise / signal : 0;
}

}  // namespace

llvm::Expected<std::vector<FormatCost>> measureFormats(const FormatUnit &unit, llvm::ArrayRef<FormatRef> formats,
                                                       WeightGraph &graph) {
  std::vector<FormatCost> costs;
  for (FormatRef format : formats)
    costs.push_back({format, 0, 0});
  for (Operation *op : unit.matrices) {
    WeightOp matrix = cast<WeightOp>(op);
    auto sample = readSample(matrix, graph);
    if (!sample)
      return sample.takeError();
    int64_t values = cast<RankedTensorType>(matrix.getType()).getNumElements();
    for (FormatCost &cost : costs) {
      const StorageFormat &format = formatForRows(*cost.format, sample->columns);
      cost.bits += 8 * format.bytesOf(values);
      cost.error += static_cast<double>(values) * relativeError(*sample, format);
    }
  }
  return costs;
}

}  // namespace talc
