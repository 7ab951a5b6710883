// SPDX-License-Identifier: Apache-2.0
// Solves the knapsack of formats. Each format of a unit is a point (bits, error); only those on the lower convex hull
// are worth their bits, and along the hull each upgrade reduces the error less per bit than the one before. All units
// start with their smallest format; then the upgrade with the largest error reduction per bit is taken, until none
// fits.
#include "compiler/passes/optimize/FormatBudget.h"

#include "compiler/passes/optimize/StorageTypes.h"

#include "mlir/IR/Threading.h"

#include <cmath>
#include <numeric>

using namespace mlir;

namespace talc {

std::vector<size_t> lowerHull(llvm::ArrayRef<FormatCost> costs) {
  std::vector<size_t> order(costs.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::tuple(costs[a].bits, costs[a].error, costs[a].format->name) <
           std::tuple(costs[b].bits, costs[b].error, costs[b].format->name);
  });
  auto slope = [&](size_t from, size_t to) {
    return (costs[from].error - costs[to].error) / static_cast<double>(costs[to].bits - costs[from].bits);
  };
  std::vector<size_t> hull;
  for (size_t number : order) {
    if (!hull.empty() && costs[number].error >= costs[hull.back()].error)
      continue;
    while (hull.size() > 1 && slope(hull.back(), number) >= slope(hull[hull.size() - 2], hull.back()))
      hull.pop_back();
    hull.push_back(number);
  }
  return hull;
}

namespace {

int64_t countValues(const FormatUnit &unit, int64_t multipleOfRows = 1) {
  int64_t sum = 0;
  for (Operation *matrix : unit.matrices) {
    auto type = cast<RankedTensorType>(cast<WeightOp>(matrix).getType());
    sum += llvm::alignTo(type.getDimSize(0), multipleOfRows) * type.getDimSize(1);
  }
  return sum;
}

// Panels have multiples of 16 rows. Padding counts as far as it takes more bits than it would at the requested size:
// then all matrices together take no more bytes than in one format of that size, whichever of them become panels.
void addPaddingBits(const FormatUnit &unit, double bits, MutableArrayRef<FormatCost> costs) {
  constexpr int64_t panelRows = 16;
  auto values = static_cast<double>(countValues(unit));
  double padding = static_cast<double>(countValues(unit, panelRows)) - values;
  for (FormatCost &cost : costs)
    cost.bits += static_cast<int64_t>(
        std::ceil(padding * std::max(0.0, static_cast<double>(cost.bits) / std::max(values, 1.0) - bits)));
}

// The upgrades of a unit along its hull.
struct UpgradePath {
  CostedUnit &unit;
  std::vector<size_t> hull;
  size_t step = 0;

  explicit UpgradePath(CostedUnit &unit) : unit(unit), hull(lowerHull(unit.costs)) { unit.chosen = hull.front(); }
  bool isAtEnd() const { return step + 1 == hull.size(); }
  const FormatCost &next() const { return unit.costs[hull[step + 1]]; }
  int64_t nextBits() const { return next().bits - unit.cost().bits; }
  double gain() const { return (unit.cost().error - next().error) / static_cast<double>(nextBits()); }
  void upgrade() { unit.chosen = hull[++step]; }
};

// Whether the rows of all matrices are whole blocks of a format.
bool isSuitable(FormatRef format, const FormatUnit &unit) {
  return llvm::all_of(unit.matrices, [&](Operation *matrix) {
    return cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getDimSize(1) % format->blockValues == 0;
  });
}

std::vector<FormatRef> candidates(const FormatUnit &unit, const FormatChoice &choice) {
  auto first = cast<WeightOp>(unit.weights.front());
  if (const FormatRule *rule = choice.findRule(chosenName(first.getSymName())))
    return {rule->format ? rule->format : getStorageFormat(fileType(first))};
  if (auto assigned = first->getAttrOfType<TypeAttr>(formatAttr))
    return {getStorageFormat(assigned.getValue())};
  std::vector<FormatRef> formats;
  llvm::copy_if(sizeFormats(), std::back_inserter(formats), [&](FormatRef format) { return isSuitable(format, unit); });
  return formats;
}

llvm::Error measure(CostedUnit &unit, const FormatChoice &choice, int64_t multiplied, WeightGraph &graph) {
  auto costs = measureFormats(unit.matrices, candidates(unit.matrices, choice), multiplied, graph);
  if (!costs)
    return costs.takeError();
  addPaddingBits(unit.matrices, choice.bits, *costs);
  llvm::copy_if(*costs, std::back_inserter(unit.costs),
                [](const FormatCost &cost) { return std::isfinite(cost.error); });
  return llvm::Error::success();
}

}  // namespace

llvm::Expected<std::vector<CostedUnit>> costUnits(ModuleOp module, const FormatChoice &choice, WeightGraph &graph) {
  std::vector<CostedUnit> units;
  for (FormatUnit &unit : findFormatUnits(module, choice))
    units.push_back({std::move(unit), {}});
  for (const CostedUnit &unit : units)  // opens files; afterwards threads only read the graph
    for (Operation *matrix : unit.matrices.matrices)
      if (auto values = graph.values(cast<WeightOp>(matrix)); !values)
        return values.takeError();
  int64_t multiplied = 0;
  for (const CostedUnit &unit : units)
    if (unit.matrices.tables.empty())
      multiplied += countValues(unit.matrices);
  std::vector<std::string> problems(units.size());
  parallelFor(module.getContext(), 0, units.size(), [&](size_t number) {
    if (llvm::Error error = measure(units[number], choice, multiplied, graph))
      problems[number] = llvm::toString(std::move(error));
  });
  for (const std::string &problem : problems)
    if (!problem.empty())
      return llvm::createStringError(problem);
  return units;
}

int64_t totalValues(llvm::ArrayRef<CostedUnit> units) {
  int64_t sum = 0;
  for (const CostedUnit &unit : units)
    sum += countValues(unit.matrices);
  return sum;
}

int64_t totalBits(llvm::ArrayRef<CostedUnit> units) {
  int64_t sum = 0;
  for (const CostedUnit &unit : units)
    sum += unit.cost().bits;
  return sum;
}

void chooseWithinBudget(llvm::MutableArrayRef<CostedUnit> units, int64_t maxBits) {
  std::vector<UpgradePath> paths;
  for (CostedUnit &unit : units)
    paths.emplace_back(unit);
  int64_t freeBits = maxBits - totalBits(units);
  while (true) {
    UpgradePath *best = nullptr;
    for (UpgradePath &path : paths)
      if (!path.isAtEnd() && path.nextBits() <= freeBits && (!best || path.gain() > best->gain()))
        best = &path;
    if (!best)
      return;
    freeBits -= best->nextBits();
    best->upgrade();
  }
}

}  // namespace talc
