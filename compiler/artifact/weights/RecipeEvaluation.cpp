// SPDX-License-Identifier: Apache-2.0
// Checks that the shapes of a recipe fit, and makes its values.
#include "compiler/Error.h"
#include "compiler/artifact/weights/WeightGraph.h"
#include "compiler/artifact/weights/WeightRecipes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace talc {

using Result = llvm::Expected<WeightValuesPtr>;

constexpr int64_t maxLanes = 4096, maxWidth = 65536, maxBuckets = 65536, maxDistances = int64_t(1) << 25;

static std::string text(MatrixShape shape) {
  return fmt::format("[{}, {}]", shape.rows, shape.columns);
}

static Result concatenate(WeightOp weight, llvm::ArrayRef<WeightValuesPtr> sources) {
  for (const WeightValuesPtr &source : sources)
    if (source->shape.columns != sources.front()->shape.columns)
      return weightError(weight, fmt::format("joins weights of different widths: {} and {}",
                                             text(sources.front()->shape), text(source->shape)));
  return concatenatedValues({sources.begin(), sources.end()});
}

static Result interleave(WeightOp weight, InterleaveRecipeAttr recipe, llvm::ArrayRef<WeightValuesPtr> sources) {
  if (!(sources[0]->shape == sources[1]->shape))
    return weightError(weight, fmt::format("interleaves weights of different shapes: {} and {}",
                                           text(sources[0]->shape), text(sources[1]->shape)));
  int64_t rows = matrixShape(cast<RankedTensorType>(weight.getType())).rows;
  if (recipe.getGroup() > rows)
    return weightError(weight, fmt::format("has fewer rows than the {} of a group", recipe.getGroup()));
  return interleavedValues(sources[0], sources[1], recipe.getGroup());
}

static Result pack(WeightOp weight, const WeightValuesPtr &source) {
  int64_t lanes = cast<RankedTensorType>(weight.getType()).getShape().back();
  if (lanes < 1 || lanes > maxLanes)
    return weightError(weight, fmt::format("is packed in panels of {} rows, expected 1 to {}", lanes, maxLanes));
  return packedValues(source, lanes);
}

static Result pad(WeightOp weight, const WeightValuesPtr &source) {
  int64_t rows = matrixShape(cast<RankedTensorType>(weight.getType())).rows;
  if (rows < source->shape.rows)
    return weightError(weight,
                       fmt::format("is padded, but shorter than the {} values it is made from", source->shape.rows));
  return paddedValues(source, rows);
}

static Result tabulate(WeightOp weight, RotaryTableRecipeAttr recipe) {
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t rotary = type.getShape().back();
  if (rotary > maxWidth)
    return weightError(weight, fmt::format("tabulates {} angles, expected at most {}", rotary / 2, maxWidth / 2));
  auto listed = dyn_cast_if_present<ListedScalingAttr>(recipe.getScaling());
  if (listed && static_cast<int64_t>(listed.getFactors().size()) != rotary / 2)
    return weightError(weight, fmt::format("has {} factors for {} angles", listed.getFactors().size(), rotary / 2));
  RotaryFrequencies frequencies(recipe.getBase().convertToDouble(), recipe.getScaling(), rotary);
  return rotaryTable(std::move(frequencies), matrixShape(type), recipe.getDigits());
}

static Result tabulate(WeightOp weight, SinusoidTableRecipeAttr recipe) {
  auto type = cast<RankedTensorType>(weight.getType());
  int64_t width = type.getShape().back();
  if (width > maxWidth)
    return weightError(weight, fmt::format("tabulates {} angles, expected at most {}", width / 2, maxWidth / 2));
  if (recipe.getLayout() == SinusoidLayout::spread && width < 4)
    return weightError(weight, fmt::format("spreads frequencies over {} features, expected at least 4", width));
  return sinusoidTable(matrixShape(type), recipe.getLayout(), recipe.getBlank());
}

// Rows whose number does not fit are told by the shape of what comes out.
static Result choose(RowsRecipeAttr recipe, const WeightValuesPtr &source) {
  int64_t first = recipe.getFirst(), count = recipe.getCount(), period = recipe.getPeriod();
  int64_t rows = source->shape.rows / period * count;
  return chosenRows(source, rows, [=](int64_t row) { return row / count * period + first + row % count; });
}

static Result splitHalves(HalfSplitRecipeAttr recipe, const WeightValuesPtr &source) {
  int64_t width = recipe.getWidth(), half = recipe.getRotary() / 2;
  return chosenRows(source, source->shape.rows, [=](int64_t row) {
    int64_t place = row % width, head = row - place;
    if (place >= 2 * half)
      return row;
    return head + (place < half ? 2 * place : 2 * (place - half) + 1);
  });
}

static Result tabulate(WeightOp weight, AlibiRecipeAttr recipe) {
  MatrixShape shape = matrixShape(cast<RankedTensorType>(weight.getType()));
  if (shape.rows > maxWidth || shape.columns > maxDistances)
    return weightError(weight, fmt::format("spreads {} slopes over {} distances, expected at most {} and {}",
                                           shape.rows, shape.columns, maxWidth, maxDistances));
  return alibiTable(shape, recipe.getRounded() ? recipe.getRounded().getValueAsDouble() : 0);
}

// The row of a table of relative attention biases for each key position - query position from -(length - 1) to length -
// 1: the buckets of T5 (arXiv 1910.10683), as Hugging Face's T5Attention assigns them. That program takes the logarithm
// of a float32, divides and multiplies in float32, and truncates. The edges of buckets are powers, where the exact
// quotient of the logarithms is an integer: there the last bit decides, and a table trained with that program needs its
// bucket. Therefore this is computed in float32 as well; the logarithm is the nearest float32. There are at least two
// buckets per direction, and maxDistance > half of them.
static std::vector<int32_t> relativePositionBuckets(int64_t length, int64_t buckets, bool bidirectional,
                                                    int64_t maxDistance) {
  const int64_t sides = bidirectional ? 2 : 1, perSide = buckets / sides, exact = perSide / 2;
  const auto scale = static_cast<float>(std::log(static_cast<double>(maxDistance) / static_cast<double>(exact)));
  std::vector<int32_t> bySize(length);  // of distances that are not positive
  for (int64_t size = 0; size < length; ++size) {
    int64_t bucket = size;
    if (size >= exact) {
      float ratio = static_cast<float>(size) / static_cast<float>(exact);
      float position = static_cast<float>(std::log(static_cast<double>(ratio))) / scale;
      position *= static_cast<float>(perSide - exact);
      bucket = std::min(perSide - 1, exact + static_cast<int64_t>(position));
    }
    bySize[size] = static_cast<int32_t>(bucket);
  }
  std::vector<int32_t> result(bySize.rbegin(), bySize.rend());
  for (int64_t size = 1; size < length; ++size)
    result.push_back(bidirectional ? static_cast<int32_t>(perSide) + bySize[size] : bySize[0]);
  return result;
}

static Result spreadBias(WeightOp weight, RelativeBiasRecipeAttr recipe, const WeightValuesPtr &table) {
  int64_t distances = cast<RankedTensorType>(weight.getType()).getShape().back(), buckets = table->shape.rows;
  int64_t perSide = recipe.getBidirectional() ? buckets / 2 : buckets;
  if (perSide < 2 || buckets > maxBuckets || distances > maxDistances)
    return weightError(weight,
                       fmt::format("spreads {} buckets over {} distances, expected at least 2 buckets for a direction "
                                   "and at most {}, and at most {} distances",
                                   buckets, distances, maxBuckets, maxDistances));
  if (recipe.getMaxDistance() <= perSide / 2)
    return weightError(weight,
                       fmt::format("has buckets up to the distance {}, expected more than the {} of single distances",
                                   recipe.getMaxDistance(), perSide / 2));
  return gatheredValues(
      table, relativePositionBuckets(distances / 2 + 1, buckets, recipe.getBidirectional(), recipe.getMaxDistance()));
}

static Result projectDistances(WeightOp weight, RelativeKeysRecipeAttr recipe,
                               llvm::ArrayRef<WeightValuesPtr> sources) {
  int64_t heads = recipe.getHeads(), rows = matrixShape(cast<RankedTensorType>(weight.getType())).rows;
  MatrixShape shape = sources[0]->shape, vector{shape.rows, 1};
  if (shape.rows % heads != 0 || shape.columns % 2 != 0 || shape.columns > maxWidth || rows > maxDistances)
    return weightError(weight,
                       fmt::format("projects {} rows of distances for {} heads by {}, expected rows for each head, an "
                                   "even width of at most {}, and at most {} rows",
                                   rows, heads, text(shape), maxWidth, maxDistances));
  double scale = recipe.getScale().convertToDouble();
  if (sources.size() == 1)
    return relativeKeys(sources[0], heads, rows / heads, scale);
  if (!(sources[1]->shape == vector) || !(sources[2]->shape == vector))
    return weightError(weight, fmt::format("is of vectors {} and {}, expected {}", text(sources[1]->shape),
                                           text(sources[2]->shape), text(vector)));
  return relativeKeys(sources[0], sources[1], sources[2], heads, rows / heads, scale);
}

Result evaluateRecipe(WeightOp weight, llvm::ArrayRef<WeightValuesPtr> sources) {
  auto result =
      llvm::TypeSwitch<Attribute, Result>(weight.getSource())
          .Case([&](TransposeRecipeAttr) { return transposedValues(sources[0]); })
          .Case([&](ConcatRecipeAttr) { return concatenate(weight, sources); })
          .Case([&](InterleaveRecipeAttr recipe) { return interleave(weight, recipe, sources); })
          .Case([&](PackRecipeAttr) { return pack(weight, sources[0]); })
          .Case([&](PadRecipeAttr) { return pad(weight, sources[0]); })
          .Case([&](ConvertRecipeAttr) { return sources[0]; })
          .Case([&](PlusRecipeAttr recipe) { return plusValues(sources[0], recipe.getValue().convertToDouble()); })
          .Case([&](RowsRecipeAttr recipe) { return choose(recipe, sources[0]); })
          .Case([&](HalfSplitRecipeAttr recipe) { return splitHalves(recipe, sources[0]); })
          .Case<RotaryTableRecipeAttr, SinusoidTableRecipeAttr, AlibiRecipeAttr>(
              [&](auto recipe) { return tabulate(weight, recipe); })
          .Case([&](RelativeBiasRecipeAttr recipe) { return spreadBias(weight, recipe, sources[0]); })
          .Case([&](RelativeKeysRecipeAttr recipe) { return projectDistances(weight, recipe, sources); })
          .Default([&](Attribute) {
            return internalError("weight '{}' has a recipe that the packager lacks", weight.getSymName().str());
          });
  MatrixShape expected = matrixShape(cast<RankedTensorType>(weight.getType()));
  if (result && !((*result)->shape == expected))
    return weightError(weight,
                       fmt::format("is a matrix {}, but its recipe makes {}", text(expected), text((*result)->shape)));
  return result;
}

}  // namespace talc
