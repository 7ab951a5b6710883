// SPDX-License-Identifier: Apache-2.0
// Composes every row as the runtime will, beside the cosines and sines that the recipe of the table defines, and lists
// where the two differ in f32. Double precision makes that rare: one value of ten thousand at position 30,000, whose
// angle itself is rounded.
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "compiler/artifact/weights/WeightRecipes.h"
#include "runtime/artifact/RotaryTables.h"

#include "mlir/IR/Threading.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;

namespace talc {

using artifact::RotaryCorrection, artifact::RotaryTable;

namespace {

// The table of one weight.
class TableComposer {
public:
  TableComposer(WeightOp weight, RotaryTableRecipeAttr recipe, int64_t offset)
      : shape(matrixShape(cast<RankedTensorType>(weight.getType()))),
        frequencies(recipe.getBase().convertToDouble(), recipe.getScaling(), shape.columns),
        values(rotaryTable(frequencies, shape, /*digits=*/0)) {
    table.offset = static_cast<uint64_t>(offset);
    table.positions = static_cast<uint32_t>(shape.rows);
    table.half = static_cast<uint32_t>(shape.columns / 2);
    table.stride = static_cast<uint32_t>(std::ceil(std::sqrt(static_cast<double>(shape.rows))));
    table.amplitude = frequencies.amplitude();
    lows = tabulate(table.stride, 1);
    highs = tabulate(llvm::divideCeil(table.positions, table.stride), table.stride);
  }

  void findCorrections(MLIRContext *context) {
    constexpr int64_t rowsAtOnce = 256;
    std::vector<std::vector<RotaryCorrection>> parts(llvm::divideCeil(shape.rows, rowsAtOnce));
    parallelFor(context, 0, parts.size(), [&](size_t part) {
      int64_t first = static_cast<int64_t>(part) * rowsAtOnce, end = std::min(first + rowsAtOnce, shape.rows);
      for (int64_t position = first; position < end; ++position)
        compareRow(position, parts[part]);
    });
    for (const auto &part : parts)
      corrections.insert(corrections.end(), part.begin(), part.end());
    table.correctionCount = static_cast<uint32_t>(corrections.size());
  }

  void appendTo(std::vector<uint8_t> &section) const {
    auto append = [&](const auto *objects, size_t count) {
      const auto *bytes = reinterpret_cast<const uint8_t *>(objects);
      section.insert(section.end(), bytes, bytes + count * sizeof(*objects));
    };
    append(&table, 1);
    append(lows.data(), lows.size());
    append(highs.data(), highs.size());
    append(corrections.data(), corrections.size());
  }

private:
  // The cosines and sines of the positions 0, step, 2 * step, ...
  std::vector<double> tabulate(int64_t count, int64_t step) const {
    const std::vector<double> turns = frequencies.at(0);
    std::vector<double> result;
    for (int64_t i = 0; i < count; ++i) {
      const auto position = static_cast<double>(i * step);
      for (double turn : turns)
        result.push_back(std::cos(position * turn));
      for (double turn : turns)
        result.push_back(std::sin(position * turn));
    }
    return result;
  }

  void compareRow(int64_t position, std::vector<RotaryCorrection> &differences) const {
    std::vector<float> expected(shape.columns), row(shape.columns);
    values->read({position, 0, 1, shape.columns}, expected.data(), shape.columns);
    composeRotaryRow(table, &lows[position % table.stride * shape.columns],
                     &highs[position / table.stride * shape.columns], row.data());
    for (int64_t column = 0; column < shape.columns; ++column)
      if (llvm::bit_cast<uint32_t>(row[column]) != llvm::bit_cast<uint32_t>(expected[column]))
        differences.push_back({static_cast<uint32_t>(position * shape.columns + column), expected[column]});
  }

  const MatrixShape shape;
  const RotaryFrequencies frequencies;
  const WeightValuesPtr values;
  RotaryTable table = {};
  std::vector<double> lows, highs;
  std::vector<RotaryCorrection> corrections;
};

}  // namespace

llvm::Expected<std::vector<uint8_t>> makeRotaryTablesSection(ModuleOp module, llvm::ArrayRef<PlacedWeight> weights,
                                                             int64_t firstTable) {
  std::vector<uint8_t> section;
  for (const PlacedWeight &placed : weights) {
    if (placed.offset < firstTable || placed.bytes == 0)
      continue;
    WeightOp weight = placed.weight;
    auto recipe = dyn_cast<RotaryTableRecipeAttr>(weight.getSource());
    if (!recipe || recipe.getDigits() > 0 || isa_and_nonnull<DynamicScalingAttr>(recipe.getScaling()))
      return makeError(ErrorCode::Program,
                       "weight '{}' has offset = {}, where only rotary tables are; leave it as talc printed it",
                       weight.getSymName().str(), placed.offset);
    TableComposer composer(weight, recipe, placed.offset - firstTable);
    composer.findCorrections(module.getContext());
    composer.appendTo(section);
  }
  return section;
}

}  // namespace talc
