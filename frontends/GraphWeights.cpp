// SPDX-License-Identifier: Apache-2.0
// The operations of the model definition vocabulary that name weights and apply recipes to them.
#include "dialects/Invariant.h"
#include "frontends/Diagnostics.h"
#include "frontends/Graph.h"
#include "frontends/GraphBuilder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

using namespace mlir;

namespace talc {

Weight GraphBuilder::weight(const std::string &name, const Shape &shape, const std::string &why) {
  return graph->weight(graph->addWeight(graph->qualified(name), shape, shape, why));
}

Weight GraphBuilder::flatWeight(const std::string &name, const Shape &stored) {
  int64_t length = 1;
  for (int64_t size : stored)
    length *= size;
  return graph->weight(graph->addWeight(graph->qualified(name), {length}, stored, {}));
}

Weight GraphBuilder::reshaped(const std::string &name, const Shape &shape, const Shape &stored) {
  return graph->weight(graph->addWeight(graph->qualified(name), shape, stored, {}));
}

Weight GraphBuilder::stackedWeight(const std::string &name, const Shape &stored) {
  return graph->weight(graph->addWeight(graph->qualified(name), {stored[0] * stored[1], stored[2]}, stored, {}));
}

std::string GraphBuilder::storedName(const std::vector<std::string> &names, bool areTied) const {
  auto stored = std::find_if(names.begin(), names.end(), [&](const std::string &name) { return has(name); });
  if (stored == names.end())
    return names.front();
  // The tensors under other names are not reported as unused.
  for (const std::string &name : names)
    if (areTied && name != *stored && has(name))
      graph->weights.tied(graph->qualified(*stored), graph->qualified(name), true);
    else if (name != *stored)
      graph->weights.passOver(graph->qualified(name));
  return *stored;
}

bool GraphBuilder::has(const std::string &name) const {
  return graph->weights.has(graph->qualified(name));
}

Weight GraphBuilder::transpose(Weight matrix) {
  if (!graph->readyWeight(matrix, 2))
    return {};
  auto recipe = TransposeRecipeAttr::get(graph->builder.getContext());
  if (Weight source = graph->recipeSource(matrix, recipe))
    return source;
  Shape sizes = graph->shape(matrix);
  return graph->weight(
      graph->addRecipe(graph->weightName(matrix) + ".transposed", {sizes[1], sizes[0]}, recipe, {matrix}));
}

Weight GraphBuilder::rows(Weight weight, int64_t first, int64_t count, int64_t period) {
  if (!graph->ready(weight))
    return {};
  Shape sizes = graph->shape(weight);
  if (first < 0 || count <= 0 || first > period - count || sizes[0] % period != 0) {
    graph->error(fmt::format("weight '{}' of shape {} has no rows [{}, {}) of every {}", graph->weightName(weight),
                             shapeText(sizes), first, first + count, period));
    return {};
  }
  std::string name = fmt::format("{}.rows.{}.{}", graph->weightName(weight), first, count);
  sizes[0] = sizes[0] / period * count;
  auto recipe = RowsRecipeAttr::get(graph->builder.getContext(), first, count, period);
  return graph->weight(graph->addRecipe(name, sizes, recipe, {weight}));
}

int64_t GraphBuilder::rowCount(Weight weight) const {
  return graph->shape(weight)[0];
}

Weight GraphBuilder::halfSplit(Weight weight, int64_t width, int64_t rotary) {
  if (!graph->ready(weight))
    return {};
  auto recipe = HalfSplitRecipeAttr::get(graph->builder.getContext(), width, rotary);
  return graph->weight(
      graph->addRecipe(graph->weightName(weight) + ".half_split", graph->shape(weight), recipe, {weight}));
}

Weight GraphBuilder::swapHalves(Weight weight, int64_t width) {
  if (!graph->ready(weight))
    return {};
  std::vector<Weight> parts;
  Shape sizes = graph->shape(weight);
  for (int64_t first = 0, half = width / 2; first < sizes[0]; first += width)
    for (int64_t side : {half, int64_t(0)})
      parts.push_back(rows(weight, first + side, half, sizes[0]));
  auto recipe = ConcatRecipeAttr::get(graph->builder.getContext());
  return graph->weight(graph->addRecipe(graph->weightName(weight) + ".swapped", sizes, recipe, parts));
}

Weight GraphBuilder::plus(Weight weight, double value) {
  if (!graph->ready(weight))
    return {};
  MLIRContext *context = graph->builder.getContext();
  if (Weight source = graph->recipeSource(weight, PlusRecipeAttr::get(context, llvm::APFloat(-value))))
    return source;
  auto recipe = PlusRecipeAttr::get(context, llvm::APFloat(value));
  return graph->weight(graph->addRecipe(graph->weightName(weight) + ".plus", graph->shape(weight), recipe, {weight}));
}

Weight GraphBuilder::ones(int64_t count) {
  auto recipe = FillSourceAttr::get(graph->builder.getContext(), llvm::APFloat(1.0));
  return graph->weight(graph->addRecipe("ones." + std::to_string(count), {count}, recipe, {}));
}

Weight GraphBuilder::filled(const Shape &shape, double value) {
  auto recipe = FillSourceAttr::get(graph->builder.getContext(), llvm::APFloat(value));
  return graph->weight(graph->addRecipe(fmt::format("filled.{}.{}", value, fmt::join(shape, ".")), shape, recipe, {}));
}

double GraphBuilder::asStored(Weight weight, double value) const {
  if (!weight)
    return value;
  auto op = graph->module->lookupSymbol<WeightOp>(graph->weightName(weight));
  auto file = dyn_cast<FileSourceAttr>(op.getSource());
  auto type = file ? dyn_cast<FloatType>(file.getElementType()) : FloatType();
  llvm::APFloat rounded(value);
  bool inexact;
  if (type)
    rounded.convert(type.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &inexact);
  return rounded.convertToDouble();
}

Weight GraphBuilder::concat(const std::string &name, const std::vector<Weight> &parts) {
  if (parts.empty() || !std::all_of(parts.begin(), parts.end(), [&](Weight part) { return graph->ready(part); }))
    return {};
  Shape sizes = graph->shape(parts.front());
  sizes[0] = 0;
  for (Weight part : parts)
    sizes[0] += graph->shape(part)[0];
  auto recipe = ConcatRecipeAttr::get(graph->builder.getContext());
  return graph->weight(graph->addRecipe(graph->qualified(name), sizes, recipe, parts));
}

static SinusoidLayout sinusoidLayout(Sinusoids layout) {
  switch (layout) {
  case Sinusoids::Halves:
    return SinusoidLayout::halves;
  case Sinusoids::Interleaved:
    return SinusoidLayout::interleaved;
  case Sinusoids::Spread:
    return SinusoidLayout::spread;
  }
  endByDefect("the layout is known");
}

Weight GraphBuilder::sinusoids(int64_t width, Sinusoids layout, int64_t first) {
  SinusoidLayout kind = sinusoidLayout(layout);
  std::string name = fmt::format("sinusoids.{}.{}", stringifySinusoidLayout(kind).str(), width);
  auto recipe = SinusoidTableRecipeAttr::get(graph->builder.getContext(), kind, first - 1);
  return graph->weight(graph->addRecipe(name, {graph->maxSequence + first, width}, recipe, {}));
}

Weight GraphBuilder::steps(int64_t period, int64_t shift, const std::function<double(int64_t step)> &value) {
  if (graph->sinks > 0)
    graph->diagnostics.error(ImportError::ConfigUnsupported,
                             "--sinks: scores of this model grow with positions, which would move with the window");
  if (graph->failed() || graph->maxSequence + shift <= period)
    return {};
  std::vector<Weight> parts;
  for (int64_t position = 0; position < graph->maxSequence;) {
    int64_t step = (position + shift) / period, next = std::min((step + 1) * period - shift, graph->maxSequence);
    parts.push_back(filled({next - position, 1}, value(step)));
    position = next;
  }
  return concat("steps", parts);
}

Weight GraphBuilder::alibi(int64_t heads, double factor) {
  FloatAttr rounded = factor > 0 ? graph->builder.getF64FloatAttr(factor) : FloatAttr();
  auto recipe = AlibiRecipeAttr::get(graph->builder.getContext(), rounded);
  int64_t columns = rounded ? graph->maxSequence : 2 * graph->maxSequence - 1;
  return graph->weight(graph->addRecipe(fmt::format("alibi.{}", heads), {heads, columns}, recipe, {}));
}

Weight GraphBuilder::relativeBias(Weight table, bool bidirectional, int64_t maxDistance) {
  if (!graph->readyWeight(table, 2))
    return {};
  if (maxDistance <= 0) {
    graph->error(fmt::format("a relative bias has the greatest distance {}", maxDistance));
    return {};
  }
  auto recipe = RelativeBiasRecipeAttr::get(graph->builder.getContext(), bidirectional, maxDistance);
  return graph->weight(graph->addRecipe(graph->weightName(table) + ".by_distance",
                                        {graph->shape(table)[1], 2 * graph->maxSequence - 1}, recipe, {table}));
}

Weight GraphBuilder::relativeKeys(Weight projection, int64_t heads, int64_t distances, double scale) {
  if (!graph->readyWeight(projection, 2))
    return {};
  auto recipe = RelativeKeysRecipeAttr::get(graph->builder.getContext(), heads, llvm::APFloat(scale));
  return graph->weight(graph->addRecipe(graph->weightName(projection) + ".by_distance",
                                        {heads * distances, graph->shape(projection)[0] / heads}, recipe,
                                        {projection}));
}

Weight GraphBuilder::relativeKeys(Weight projection, Weight from, Weight to, int64_t heads, int64_t distances,
                                  double scale) {
  if (!graph->readyWeight(projection, 2) || !graph->readyWeight(from, 1) || !graph->readyWeight(to, 1))
    return {};
  auto recipe = RelativeKeysRecipeAttr::get(graph->builder.getContext(), heads, llvm::APFloat(scale));
  return graph->weight(graph->addRecipe(graph->weightName(projection) + ".bias_by_distance", {heads * distances},
                                        recipe, {projection, from, to}));
}

std::pair<Weight, Weight> GraphBuilder::tiedWeights(const std::string &first, const std::string &second,
                                                    const Shape &shape, bool isTied) {
  std::string firstName = graph->qualified(first), secondName = graph->qualified(second);
  if (!graph->weights.tied(firstName, secondName, isTied))
    return {weight(first, shape), weight(second, shape)};
  bool onlySecond = graph->weights.has(secondName) && !graph->weights.has(firstName);
  Weight both = weight(onlySecond ? second : first, shape);
  return {both, both};
}

}  // namespace talc
