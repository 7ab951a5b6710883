// SPDX-License-Identifier: Apache-2.0
// Errors of single matrices do not tell what all of them do to predictions: some cancel out, and in a few layers it is
// chance whether quantization matters. Therefore whole assignments of formats are measured, in a local search that
// starts from the best of some simple ones. A round measures each unit with each of its other formats, while the others
// stay. The change that lowers the divergence most is tried first; if it needs bits, it is combined with the changes
// that free bits at the lowest price. Changes do not add up, so every trial is measured, and kept if it is the best.
#include "compiler/passes/optimize/FormatBudget.h"
#include "compiler/quantize/Divergence.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace talc {

namespace {

using Assignment = std::vector<size_t>;  // the index of a cost, and so of a format, for each unit

// A round ends after this many trials in a row that are no better than the best; those to come promise less.
constexpr int maxFailures = 8;

class FormatSearch {
public:
  FormatSearch(std::vector<CostedUnit> units, double bits, const Divergence &divergence)
      : units(std::move(units)), bits(bits), divergence(divergence),
        maxBits(static_cast<int64_t>(bits * static_cast<double>(totalValues(this->units)))) {}

  // Starts from what errors of single matrices suggest, or from one format for all.
  llvm::Error begin() {
    chooseWithinBudget(units, maxBits);
    Assignment trial;
    for (const CostedUnit &unit : units)
      trial.push_back(unit.chosen);
    if (llvm::Error error = measure(trial))
      return error;
    for (FormatRef format : storageFormats())
      if (setAll(*format, trial) && bitCount(trial) <= maxBits)
        if (llvm::Error error = measure(trial))
          return error;
    return llvm::Error::success();
  }

  // One round. Returns whether it found something better.
  llvm::Expected<bool> improve() {
    auto changes = measureChanges();
    if (!changes)
      return changes.takeError();
    const double before = minDivergence;
    const Assignment start = best;
    int failures = 0;
    for (const Change &change : *changes) {
      Assignment trial = best;
      if (best[change.unit] != start[change.unit] || change.increase >= 0 || !makeRoom(change, *changes, start, trial))
        continue;
      double previous = minDivergence;
      if (llvm::Error error = measure(trial))
        return std::move(error);
      failures = minDivergence < previous ? 0 : failures + 1;
      if (failures == maxFailures)
        break;
    }
    return minDivergence < before;
  }

  void apply(const FormatChoice &choice) const {
    for (auto [unit, index] : llvm::zip(units, best)) {
      const StorageFormat &format = *unit.costs[index].format;
      for (Operation *weight : unit.matrices.weights)
        if (!choice.findRule(chosenName(cast<WeightOp>(weight).getSymName())))
          weight->setAttr(formatAttr, TypeAttr::get(format.type(weight->getContext(), format)));
    }
  }

private:
  // Another format for one unit, while all others stay.
  struct Change {
    size_t unit, cost;
    int64_t freedBits;
    double increase;  // of the divergence

    double price() const { return increase / static_cast<double>(freedBits); }
  };

  int64_t bitCount(const Assignment &assignment) const {
    int64_t sum = 0;
    for (auto [unit, index] : llvm::zip(units, assignment))
      sum += unit.costs[index].bits;
    return sum;
  }

  llvm::Expected<double> measureDivergence(const Assignment &assignment) const {
    std::vector<QuantizedUnit> quantized;
    for (auto [unit, index] : llvm::zip(units, assignment))
      if (unit.costs[index].error > 0)  // 0: the file has such blocks
        quantized.push_back({&unit.matrices, unit.costs[index].format});
    return divergence.measure(quantized);
  }

  // Measures an assignment, and keeps the best.
  llvm::Error measure(const Assignment &assignment) {
    auto measured = measureDivergence(assignment);
    if (!measured)
      return measured.takeError();
    if (*measured < minDivergence) {
      minDivergence = *measured;
      best = assignment;
    }
    return llvm::Error::success();
  }

  // Assigns one format to all units, as --weights=FORMAT does; false if some unit cannot have it.
  bool setAll(const StorageFormat &format, Assignment &trial) const {
    for (auto [unit, index] : llvm::zip(units, trial)) {
      auto type = cast<RankedTensorType>(cast<WeightOp>(unit.matrices.matrices.front()).getType());
      const StorageFormat &fitting = formatForRows(format, type.getDimSize(1));
      auto place = llvm::find_if(unit.costs, [&](const FormatCost &cost) { return cost.format == &fitting; });
      if (unit.costs.size() > 1)
        index = place - unit.costs.begin();
      if (index == unit.costs.size())
        return false;
    }
    return true;
  }

  // Whether a format is near the requested size.
  bool isPromising(const FormatCost &cost) const {
    double size = 8.0 * static_cast<double>(cost.format->blockBytes) / static_cast<double>(cost.format->blockValues);
    return size > bits * 2 / 3 && size < bits * 3 / 2;
  }

  // All changes of one unit, the best first.
  llvm::Expected<std::vector<Change>> measureChanges() {
    std::vector<Change> changes;
    const Assignment start = best;
    for (size_t unit = 0; unit < units.size(); ++unit)
      for (size_t cost : lowerHull(units[unit].costs)) {
        if (cost == start[unit] || !isPromising(units[unit].costs[cost]))
          continue;
        Assignment trial = start;
        trial[unit] = cost;
        auto measured = measureDivergence(trial);
        if (!measured)
          return measured.takeError();
        changes.push_back({unit, cost, bitCount(start) - bitCount(trial), *measured - minDivergence});
      }
    llvm::sort(changes, [](const Change &a, const Change &b) {
      return std::tuple(a.increase, a.unit, a.cost) < std::tuple(b.increase, b.unit, b.cost);
    });
    return changes;
  }

  // Makes a change, and further ones of units that have not changed until the bits fit; false if they never do.
  bool makeRoom(const Change &change, llvm::ArrayRef<Change> changes, const Assignment &start,
                Assignment &trial) const {
    trial[change.unit] = change.cost;
    while (bitCount(trial) > maxBits) {
      const Change *cheapest = nullptr;
      for (const Change &other : changes)
        if (other.unit != change.unit && trial[other.unit] == start[other.unit] && other.freedBits > 0 &&
            (!cheapest || other.price() < cheapest->price()))
          cheapest = &other;
      if (!cheapest)
        return false;
      trial[cheapest->unit] = cheapest->cost;
    }
    return true;
  }

  std::vector<CostedUnit> units;
  const double bits;
  const Divergence &divergence;
  const int64_t maxBits;
  Assignment best;
  double minDivergence = HUGE_VAL;
};

}  // namespace

// A round reads the text about six times for each unit.
constexpr int64_t maxSearchedValues = 30'000'000;
constexpr int maxRounds = 2;

llvm::Error searchFormats(ModuleOp module, const FormatChoice &weights, const Divergence &divergence) {
  WeightGraph graph(module);
  auto units = costUnits(module, weights, graph);
  if (!units)
    return units.takeError();
  FormatSearch search(std::move(*units), weights.bits, divergence);
  if (llvm::Error error = search.begin())
    return error;
  for (int round = 0; round < maxRounds && divergence.storedValues() <= maxSearchedValues; ++round) {
    auto isBetter = search.improve();
    if (!isBetter)
      return isBetter.takeError();
    if (!*isBetter)
      break;
  }
  search.apply(weights);
  return llvm::Error::success();
}

}  // namespace talc
