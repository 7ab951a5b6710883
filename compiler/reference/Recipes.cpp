// SPDX-License-Identifier: Apache-2.0
// Evaluates the recipes of dialects/talc/TalcDialect.td element by element.
#include "compiler/reference/Weights.h"

#include "compiler/Error.h"
#include "compiler/reference/Positions.h"
#include "compiler/reference/StoredValues.h"
#include "compiler/reference/WeightSources.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace talc::reference {

namespace {

using Shape = std::vector<int64_t>;

// Rounds a value to bf16.
double nearestBf16(double value) {
  llvm::APFloat result(value);
  bool inexact;
  result.convert(llvm::APFloat::BFloat(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return result.convertToDouble();
}

int64_t ceilDivide(int64_t a, int64_t b) {
  return (a + b - 1) / b;
}

// One recipe being applied. Every function returns whether the shapes fit, and if so fills `result`.
struct Application {
  const std::vector<WeightPtr> &sources;
  Weight &result;

  bool ranks(size_t count, size_t rank) const {
    return sources.size() == count &&
           std::all_of(sources.begin(), sources.end(), [&](const WeightPtr &w) { return w->shape.size() == rank; });
  }

  bool apply(TransposeRecipeAttr) {
    if (!ranks(1, 2) || result.shape != Shape{sources[0]->shape[1], sources[0]->shape[0]})
      return false;
    int64_t rows = result.shape[0], columns = result.shape[1];
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < columns; ++c)
        result.values[r * columns + c] = sources[0]->values[c * rows + r];
    return true;
  }

  bool apply(ConcatRecipeAttr) {
    std::vector<double> values;
    Shape shape = result.shape;
    int64_t first = 0;
    for (const WeightPtr &source : sources) {
      if (source->shape.empty() || source->shape.size() != shape.size())
        return false;
      first += source->shape[0];
      shape[0] = source->shape[0];
      if (source->shape != shape)
        return false;
      values.insert(values.end(), source->values.begin(), source->values.end());
    }
    if (shape.empty() || first != result.shape[0])
      return false;
    result.values = std::move(values);
    return true;
  }

  bool apply(InterleaveRecipeAttr recipe) {
    int64_t group = recipe.getGroup();
    if (!ranks(2, 2) || sources[0]->shape != sources[1]->shape || group <= 0)
      return false;
    int64_t rows = sources[0]->shape[0], columns = sources[0]->shape[1];
    if (result.shape != Shape{2 * ceilDivide(rows, group) * group, columns})
      return false;
    for (int64_t r = 0; r < result.shape[0]; ++r) {
      const Weight &source = *sources[r / group % 2];
      int64_t from = r / (2 * group) * group + r % group;
      for (int64_t c = 0; c < columns; ++c)
        result.values[r * columns + c] = from < rows ? source.values[from * columns + c] : 0;
    }
    return true;
  }

  bool apply(PackRecipeAttr) {
    if (!ranks(1, 2) || result.shape.size() != 3 || result.shape[2] <= 0)
      return false;
    int64_t rows = sources[0]->shape[0], depth = sources[0]->shape[1], lanes = result.shape[2];
    if (result.shape != Shape{ceilDivide(rows, lanes), depth, lanes})
      return false;
    for (int64_t p = 0; p < result.shape[0]; ++p)
      for (int64_t k = 0; k < depth; ++k)
        for (int64_t l = 0; l < lanes; ++l)
          result.values[(p * depth + k) * lanes + l] =
              p * lanes + l < rows ? sources[0]->values[(p * lanes + l) * depth + k] : 0;
    return true;
  }

  bool apply(PadRecipeAttr) {
    if (sources.size() != 1 || result.shape.size() != sources[0]->shape.size() || result.shape.size() > 2 ||
        result.shape[0] < sources[0]->shape[0] || result.shape.back() < sources[0]->shape.back() ||
        (result.shape.size() == 2 && result.shape[1] != sources[0]->shape[1]))
      return false;
    std::copy(sources[0]->values.begin(), sources[0]->values.end(), result.values.begin());
    return true;
  }

  bool apply(ConvertRecipeAttr) {
    if (sources.size() != 1 || sources[0]->shape != result.shape)
      return false;
    result.values = sources[0]->values;
    return true;
  }

  bool apply(RotaryTableRecipeAttr recipe) {
    if (!sources.empty() || result.shape.size() != 2 || result.shape[1] % 2 != 0)
      return false;
    int64_t rotary = result.shape[1];
    int64_t digits = recipe.getDigits();
    if (digits > 0 && result.shape[0] != 3 * digits)
      return false;
    for (int64_t p = 0; p < result.shape[0]; ++p) {
      int64_t place = digits > 0 ? p / digits : 0, step = place == 0 ? 1 : place == 1 ? digits : digits * digits;
      std::vector<double> row = rotaryRow(rotary, recipe.getBase().convertToDouble(), recipe.getScaling(),
                                          digits > 0 ? p % digits * step : p, place == 0);
      std::copy(row.begin(), row.end(), result.values.begin() + p * rotary);
    }
    return true;
  }

  bool apply(SinusoidTableRecipeAttr recipe) {
    if (!sources.empty() || result.shape.size() != 2)
      return false;
    int64_t width = result.shape[1], sines = (width + 1) / 2;
    if (recipe.getLayout() == SinusoidLayout::spread)
      return applySpread(recipe);
    bool halves = recipe.getLayout() == SinusoidLayout::halves;
    for (int64_t p = 0; p < result.shape[0]; ++p) {
      if (p == recipe.getBlank())
        continue;
      for (int64_t i = 0; i < sines; ++i) {
        double angle = p * std::pow(10000.0, -2.0 * i / width);
        result.values[p * width + (halves ? i : 2 * i)] = static_cast<float>(std::sin(angle));
        if (2 * i + 1 < width)
          result.values[p * width + (halves ? sines + i : 2 * i + 1)] = static_cast<float>(std::cos(angle));
      }
    }
    return true;
  }

  // Frequencies from 1 down to 1/10000.
  bool applySpread(SinusoidTableRecipeAttr recipe) {
    int64_t width = result.shape[1], half = width / 2;
    for (int64_t p = 0; p < result.shape[0] && half > 1; ++p) {
      for (int64_t i = 0; i < half && p != recipe.getBlank(); ++i) {
        double angle = p * std::pow(10000.0, -1.0 * i / (half - 1));
        result.values[p * width + i] = static_cast<float>(std::sin(angle));
        result.values[p * width + half + i] = static_cast<float>(std::cos(angle));
      }
    }
    return half > 1;
  }

  bool apply(RowsRecipeAttr recipe) {
    int64_t period = recipe.getPeriod(), count = recipe.getCount();
    if (sources.size() != 1 || sources[0]->shape.size() != result.shape.size())
      return false;
    Shape expected = sources[0]->shape;
    if (expected[0] % period != 0)
      return false;
    expected[0] = expected[0] / period * count;
    if (result.shape != expected)
      return false;
    auto width = static_cast<int64_t>(result.values.size()) / expected[0];
    for (int64_t r = 0; r < expected[0]; ++r)
      std::copy_n(sources[0]->values.begin() + (r / count * period + recipe.getFirst() + r % count) * width, width,
                  result.values.begin() + r * width);
    return true;
  }

  bool apply(HalfSplitRecipeAttr recipe) {
    int64_t width = recipe.getWidth(), half = recipe.getRotary() / 2;
    if (sources.size() != 1 || sources[0]->shape != result.shape || result.shape[0] % width != 0)
      return false;
    int64_t features = static_cast<int64_t>(result.values.size()) / result.shape[0];
    for (int64_t r = 0; r < result.shape[0]; ++r) {
      int64_t place = r % width, from = place;
      if (place < half)
        from = 2 * place;
      else if (place < 2 * half)
        from = 2 * (place - half) + 1;
      std::copy_n(sources[0]->values.begin() + (r - place + from) * features, features,
                  result.values.begin() + r * features);
    }
    return true;
  }

  bool apply(PlusRecipeAttr recipe) {
    if (sources.size() != 1 || sources[0]->shape != result.shape)
      return false;
    for (size_t i = 0; i < result.values.size(); ++i)
      result.values[i] = static_cast<float>(sources[0]->values[i] + recipe.getValue().convertToDouble());
    return true;
  }

  static double alibiSlope(int64_t head, int64_t heads) {
    int64_t power = 1;
    while (2 * power <= heads)
      power *= 2;
    return head < power ? std::pow(2.0, -8.0 * (head + 1) / power)
                        : std::pow(2.0, -4.0 * (2 * (head - power) + 1) / power);
  }

  bool apply(AlibiRecipeAttr recipe) {
    if (!sources.empty() || result.shape.size() != 2)
      return false;
    int64_t heads = result.shape[0], columns = result.shape[1];
    for (int64_t h = 0; h < heads; ++h) {
      double slope = alibiSlope(h, heads);
      for (int64_t c = 0; c < columns; ++c)
        result.values[h * columns + c] =
            static_cast<float>(recipe.getRounded() ? recipe.getRounded().getValueAsDouble() *
                                                         nearestBf16(nearestBf16(slope) * nearestBf16(c))
                                                   : slope * (c - columns / 2));
    }
    return true;
  }

  bool apply(RelativeBiasRecipeAttr recipe) {
    if (!ranks(1, 2) || result.shape.size() != 2 || result.shape[0] != sources[0]->shape[1] || result.shape[1] % 2 == 0)
      return false;
    RelativePositionBuckets buckets(recipe, sources[0]->shape[0]);
    if (!buckets.valid())
      return false;
    int64_t heads = result.shape[0], columns = result.shape[1];
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t c = 0; c < columns; ++c)
        result.values[h * columns + c] = sources[0]->values[buckets.row(c - columns / 2) * heads + h];
    return true;
  }

  bool apply(RelativeKeysRecipeAttr recipe) {
    int64_t heads = recipe.getHeads();
    if (sources.empty() || sources[0]->shape.size() != 2 || sources[0]->shape[0] % heads != 0 ||
        result.shape[0] % heads != 0)
      return false;
    const Weight &projection = *sources[0];
    int64_t width = projection.shape[0] / heads, inputs = projection.shape[1], distances = result.shape[0] / heads;
    bool products = sources.size() == 3;
    if (inputs % 2 != 0 || result.shape != (products ? Shape{heads * distances} : Shape{heads * distances, width}) ||
        (products && (sources[1]->shape != Shape{heads * width} || sources[2]->shape != Shape{heads * width})))
      return false;
    for (int64_t r = 0; r < heads * distances; ++r) {
      double product = 0;
      for (int64_t i = 0; i < width; ++i) {
        int64_t row = r / distances * width + i, half = inputs / 2;
        double sum = 0;
        for (int64_t n = 0; n < half; ++n) {
          double angle = (distances - 1 - r % distances) * std::pow(10000.0, -2.0 * n / inputs);
          sum += projection.values[row * inputs + n] * std::sin(angle) +
                 projection.values[row * inputs + half + n] * std::cos(angle);
        }
        sum *= recipe.getScale().convertToDouble();
        if (products)
          product += sum * (sources[2]->values[row] - sources[1]->values[row]);
        else
          result.values[r * width + i] = static_cast<float>(sum);
      }
      if (products)
        result.values[r] = static_cast<float>(product);
    }
    return true;
  }

  bool apply(FillSourceAttr recipe) {
    std::fill(result.values.begin(), result.values.end(), static_cast<float>(recipe.getValue().convertToDouble()));
    return sources.empty();
  }
};

// The block format after a recipe: recipes that move whole rows keep blocks.
std::string blocksAfter(mlir::Attribute recipe, const std::vector<WeightPtr> &sources) {
  bool movesRows = mlir::isa<ConcatRecipeAttr, InterleaveRecipeAttr, PackRecipeAttr, PadRecipeAttr, ConvertRecipeAttr,
                             RowsRecipeAttr, HalfSplitRecipeAttr>(recipe);
  bool alike = movesRows && !sources.empty() && llvm::all_of(sources, [&](const WeightPtr &source) {
                 return source->blocks == sources.front()->blocks;
               });
  return alike ? sources.front()->blocks : "";
}

std::string printed(mlir::Attribute recipe) {
  std::string text;
  llvm::raw_string_ostream(text) << recipe;
  return text;
}

std::string printed(const Shape &shape) {
  return fmt::format("[{}]", fmt::join(shape, ", "));
}

}  // namespace

llvm::Expected<Weight> applyRecipe(const std::string &name, mlir::Attribute recipe,
                                   const std::vector<WeightPtr> &sources, mlir::RankedTensorType type) {
  llvm::Expected<Weight> result = emptyWeight(name, type);
  if (!result)
    return result.takeError();
  Application application{sources, *result};
  bool fits = llvm::TypeSwitch<mlir::Attribute, bool>(recipe)
                  .Case<TransposeRecipeAttr, ConcatRecipeAttr, InterleaveRecipeAttr, PackRecipeAttr, PadRecipeAttr,
                        ConvertRecipeAttr, RowsRecipeAttr, HalfSplitRecipeAttr, PlusRecipeAttr, AlibiRecipeAttr,
                        RotaryTableRecipeAttr, SinusoidTableRecipeAttr, RelativeBiasRecipeAttr, RelativeKeysRecipeAttr,
                        FillSourceAttr>([&](auto attr) { return application.apply(attr); })
                  .Default([](mlir::Attribute) { return false; });
  if (!fits) {
    std::vector<std::string> shapes;
    for (const WeightPtr &source : sources)
      shapes.push_back(printed(source->shape));
    return makeError(ErrorCode::WeightRecipe, "weight '{}': {} of shapes ({}) does not give {}", name, printed(recipe),
                     fmt::join(shapes, ", "), printed(result->shape));
  }
  result->blocks = blocksAfter(recipe, sources);
  roundValues(*result, type.getElementType());
  return result;
}

}  // namespace talc::reference
