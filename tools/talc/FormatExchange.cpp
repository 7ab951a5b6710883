// SPDX-License-Identifier: Apache-2.0
// Errors of single matrices do not tell what all of them do to predictions: some cancel out, and in a few layers it is
// chance whether what a format rounds matters. So whole choices are measured, from the best of some known ones on.
// Every unit in turn has each of its other formats, while the others stay: how much further do predictions diverge? The
// change that takes most away is tried first, together with those that cost least for their bits if it needs bits.
// Changes do not add up, so every trial is measured, and kept if it is better than all before.
#include "tools/talc/FormatExchange.h"

#include "compiler/passes/optimize/FormatBudget.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;

namespace talc::tools {

namespace {

using Numbers = std::vector<size_t>;  // of a cost for each unit

// Changes that promise less than so many in a row that failed are not tried.
constexpr int mostFailures = 8;

class Exchange {
public:
  Exchange(std::vector<CostedUnit> units, double bits, const Divergence &divergence)
      : units(std::move(units)), bits(bits), divergence(divergence),
        mostBits(static_cast<int64_t>(bits * static_cast<double>(totalValues(this->units)))) {}

  // The best of what errors of single matrices say, and of one format for all.
  llvm::Error begin() {
    chooseWithinBudget(units, mostBits);
    Numbers trial;
    for (const CostedUnit &unit : units)
      trial.push_back(unit.chosen);
    if (llvm::Error error = measure(trial))
      return error;
    for (FormatRef format : storageFormats())
      if (setAll(*format, trial) && bitsOf(trial) <= mostBits)
        if (llvm::Error error = measure(trial))
          return error;
    return llvm::Error::success();
  }

  // Whether something better was found.
  llvm::Expected<bool> improve() {
    auto changes = measureChanges();
    if (!changes)
      return changes.takeError();
    const double before = leastDivergence;
    const Numbers start = best;
    int failures = 0;
    for (const Change &change : *changes) {
      Numbers trial = best;
      if (best[change.unit] != start[change.unit] || change.further >= 0 || !makeRoom(change, *changes, start, trial))
        continue;
      double least = leastDivergence;
      if (llvm::Error error = measure(trial))
        return std::move(error);
      failures = leastDivergence < least ? 0 : failures + 1;
      if (failures == mostFailures)
        break;
    }
    return leastDivergence < before;
  }

  void give(const FormatChoice &choice) const {
    for (auto [unit, number] : llvm::zip(units, best)) {
      const StorageFormat &format = *unit.costs[number].format;
      for (Operation *weight : unit.matrices.weights)
        if (!choice.ruleOf(chosenName(cast<WeightOp>(weight).getSymName())))
          weight->setAttr(formatAttr, TypeAttr::get(format.type(weight->getContext(), format)));
    }
  }

private:
  // Of a unit's format, while all others stay.
  struct Change {
    size_t unit, cost;
    int64_t freedBits;
    double further;  // predictions diverge so much more than without it

    double price() const { return further / static_cast<double>(freedBits); }
  };

  int64_t bitsOf(const Numbers &numbers) const {
    int64_t sum = 0;
    for (auto [unit, number] : llvm::zip(units, numbers))
      sum += unit.costs[number].bits;
    return sum;
  }

  llvm::Expected<double> divergenceOf(const Numbers &numbers) const {
    std::vector<Rounding> roundings;
    for (auto [unit, number] : llvm::zip(units, numbers))
      if (unit.costs[number].error > 0)  // else the file has such blocks
        roundings.push_back({&unit.matrices, unit.costs[number].format});
    return divergence.of(roundings);
  }

  // Keeps the best.
  llvm::Error measure(const Numbers &numbers) {
    auto found = divergenceOf(numbers);
    if (!found)
      return found.takeError();
    if (*found < leastDivergence) {
      leastDivergence = *found;
      best = numbers;
    }
    return llvm::Error::success();
  }

  // As --weights=FORMAT does; false if some unit has no such format.
  bool setAll(const StorageFormat &format, Numbers &trial) const {
    for (auto [unit, number] : llvm::zip(units, trial)) {
      auto type = cast<RankedTensorType>(cast<WeightOp>(unit.matrices.matrices.front()).getType());
      const StorageFormat &fitting = formatForRows(format, type.getDimSize(1));
      auto place = llvm::find_if(unit.costs, [&](const FormatCost &cost) { return cost.format == &fitting; });
      if (unit.costs.size() > 1)
        number = place - unit.costs.begin();
      if (number == unit.costs.size())
        return false;
    }
    return true;
  }

  // Not far from the size that is wanted.
  bool isPromising(const FormatCost &cost) const {
    double size = 8.0 * static_cast<double>(cost.format->blockBytes) / static_cast<double>(cost.format->blockValues);
    return size > bits * 2 / 3 && size < bits * 3 / 2;
  }

  // By one unit's other formats; those that change predictions least first.
  llvm::Expected<std::vector<Change>> measureChanges() {
    std::vector<Change> changes;
    const Numbers start = best;
    for (size_t unit = 0; unit < units.size(); ++unit)
      for (size_t cost : lowerHull(units[unit].costs)) {
        if (cost == start[unit] || !isPromising(units[unit].costs[cost]))
          continue;
        Numbers trial = start;
        trial[unit] = cost;
        auto found = divergenceOf(trial);
        if (!found)
          return found.takeError();
        changes.push_back({unit, cost, bitsOf(start) - bitsOf(trial), *found - leastDivergence});
      }
    llvm::sort(changes, [](const Change &a, const Change &b) {
      return std::tuple(a.further, a.unit, a.cost) < std::tuple(b.further, b.unit, b.cost);
    });
    return changes;
  }

  // Makes a change, and others of units that are as they were until all fit.
  bool makeRoom(const Change &wanted, llvm::ArrayRef<Change> changes, const Numbers &start, Numbers &trial) const {
    trial[wanted.unit] = wanted.cost;
    while (bitsOf(trial) > mostBits) {
      const Change *cheapest = nullptr;
      for (const Change &change : changes)
        if (change.unit != wanted.unit && trial[change.unit] == start[change.unit] && change.freedBits > 0 &&
            (!cheapest || change.price() < cheapest->price()))
          cheapest = &change;
      if (!cheapest)
        return false;
      trial[cheapest->unit] = cheapest->cost;
    }
    return true;
  }

  std::vector<CostedUnit> units;
  const double bits;
  const Divergence &divergence;
  const int64_t mostBits;
  Numbers best;
  double leastDivergence = HUGE_VAL;
};

}  // namespace

// A round reads the text some six times for each unit.
constexpr int64_t mostExchangedValues = 30'000'000;
constexpr int mostRounds = 2;

llvm::Error exchangeFormats(const ModelInput &input, const CompileOptions &options, const Divergence &divergence) {
  std::string ignored;
  FormatChoice choice = *parseFormatChoice(options.weights, ignored);
  WeightGraph graph(*input.module);
  auto units = costUnits(*input.module, choice, graph);
  if (!units)
    return units.takeError();
  Exchange exchange(std::move(*units), choice.bits, divergence);
  if (llvm::Error error = exchange.begin())
    return error;
  for (int round = 0; round < mostRounds && storedValues(input) <= mostExchangedValues; ++round) {
    auto better = exchange.improve();
    if (!better)
      return better.takeError();
    if (!*better)
      break;
  }
  exchange.give(choice);
  return llvm::Error::success();
}

}  // namespace talc::tools
