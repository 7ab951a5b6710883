// SPDX-License-Identifier: Apache-2.0
// choose-formats: a storage format for each matrix, so that all together have a wanted size and least error.
//
// Every unit of matrices has formats of some bits and some error. Those on the lower convex hull of these points are
// worth being taken; from each to the next the error falls less for a bit. So all units begin with the smallest, and
// the step that takes most error away for its bits comes first, until no step fits any more.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/FormatErrors.h"
#include "compiler/passes/optimize/StorageTypes.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <map>

namespace talc {
#define GEN_PASS_DEF_CHOOSEFORMATS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "choose-formats");

using Costs = std::vector<FormatCost>;

// By size; those above the hull are gone.
Costs lowerHull(Costs costs) {
  llvm::sort(costs, [](const FormatCost &a, const FormatCost &b) {
    return std::tuple(a.bits, a.error, a.format->name) < std::tuple(b.bits, b.error, b.format->name);
  });
  auto slope = [](const FormatCost &from, const FormatCost &to) {
    return (from.error - to.error) / static_cast<double>(to.bits - from.bits);
  };
  Costs hull;
  for (const FormatCost &cost : costs) {
    if (!std::isfinite(cost.error) || (!hull.empty() && cost.error >= hull.back().error))
      continue;
    while (hull.size() > 1 && slope(hull.back(), cost) >= slope(hull[hull.size() - 2], hull.back()))
      hull.pop_back();
    hull.push_back(cost);
  }
  return hull;
}

int64_t valuesOf(const FormatUnit &unit, int64_t multipleOfRows = 1) {
  int64_t sum = 0;
  for (Operation *matrix : unit.matrices) {
    auto type = cast<RankedTensorType>(cast<WeightOp>(matrix).getType());
    sum += llvm::alignTo(type.getDimSize(0), multipleOfRows) * type.getDimSize(1);
  }
  return sum;
}

// Panels have whole sixteens of rows. What fills them counts as far as it is larger than at the size that is asked for:
// all matrices together then take no more bytes than they do in one format of that size, whatever becomes panels.
void addFilling(const FormatUnit &unit, double bits, MutableArrayRef<FormatCost> costs) {
  constexpr int64_t panelRows = 16;
  auto values = static_cast<double>(valuesOf(unit));
  double filling = static_cast<double>(valuesOf(unit, panelRows)) - values;
  for (FormatCost &cost : costs)
    cost.bits += static_cast<int64_t>(
        std::ceil(filling * std::max(0.0, static_cast<double>(cost.bits) / std::max(values, 1.0) - bits)));
}

struct Unit {
  FormatUnit matrices;
  Costs costs;  // its hull
  size_t chosen = 0;

  int64_t bits() const { return costs[chosen].bits; }
  bool isLargest() const { return chosen + 1 == costs.size(); }
  int64_t nextBits() const { return costs[chosen + 1].bits - bits(); }
  double gain() const { return (costs[chosen].error - costs[chosen + 1].error) / static_cast<double>(nextBits()); }
};

int64_t totalBits(llvm::ArrayRef<Unit> units) {
  int64_t sum = 0;
  for (const Unit &unit : units)
    sum += unit.bits();
  return sum;
}

void choose(llvm::MutableArrayRef<Unit> units, int64_t mostBits) {
  int64_t left = mostBits - totalBits(units);
  while (true) {
    Unit *best = nullptr;
    for (Unit &unit : units)
      if (!unit.isLargest() && unit.nextBits() <= left && (!best || unit.gain() > best->gain()))
        best = &unit;
    if (!best)
      return;
    left -= best->nextBits();
    ++best->chosen;
  }
}

struct ChooseFormats : talc::impl::ChooseFormatsBase<ChooseFormats> {
  using Base::Base;

  void runOnOperation() override {
    std::string problem;
    auto choice = parseFormatChoice(weights, problem);
    if (!choice) {
      getOperation().emitError() << "weights cannot be '" << weights << "': " << problem;
      return signalPassFailure();
    }
    if (choice->bits > 0 && failed(chooseFor(*choice)))
      signalPassFailure();
  }

  LogicalResult chooseFor(const FormatChoice &choice) {
    std::vector<Unit> units;
    for (FormatUnit &unit : findFormatUnits(getOperation(), choice))
      units.push_back({std::move(unit), {}});
    WeightGraph graph(getOperation());
    if (failed(measure(units, choice, graph)))
      return failure();
    int64_t values = 0;
    for (const Unit &unit : units)
      values += valuesOf(unit.matrices);
    auto least = static_cast<double>(totalBits(units)) / std::max<double>(values, 1);
    if (least > choice.bits)
      return getOperation().emitError() << "weights cannot have " << llvm::formatv("{0}", choice.bits)
                                        << " bits: the smallest formats have "
                                        << llvm::formatv("{0:f2}", std::ceil(least * 100) / 100) << " on average";
    choose(units, static_cast<int64_t>(choice.bits * static_cast<double>(values)));
    for (const Unit &unit : units)
      give(unit, choice, graph);
    tell(units, values);
    return success();
  }

  // Whether rows are whole blocks of a format.
  static bool suits(FormatRef format, const FormatUnit &unit) {
    return llvm::all_of(unit.matrices, [&](Operation *matrix) {
      return cast<RankedTensorType>(cast<WeightOp>(matrix).getType()).getDimSize(1) % format->blockValues == 0;
    });
  }

  // What a rule says, else all that users choose from.
  static std::vector<FormatRef> candidates(const FormatUnit &unit, const FormatChoice &choice) {
    auto first = cast<WeightOp>(unit.weights.front());
    if (const FormatRule *rule = choice.ruleOf(chosenName(first.getSymName())))
      return {rule->format ? rule->format : formatOf(fileType(first))};
    std::vector<FormatRef> formats;
    llvm::copy_if(storageFormats(), std::back_inserter(formats),
                  [&](FormatRef format) { return format->listed && suits(format, unit); });
    return formats;
  }

  LogicalResult measure(std::vector<Unit> &units, const FormatChoice &choice, WeightGraph &graph) {
    for (Unit &unit : units)  // opens files; from here on the graph is only read
      for (Operation *matrix : unit.matrices.matrices)
        if (auto values = graph.values(cast<WeightOp>(matrix)); !values)
          return getOperation().emitError() << llvm::toString(values.takeError());
    return failableParallelForEach(&getContext(), units, [&](Unit &unit) -> LogicalResult {
      auto costs = measureFormats(unit.matrices, candidates(unit.matrices, choice), graph);
      if (!costs)
        return getOperation().emitError() << llvm::toString(costs.takeError());
      addFilling(unit.matrices, choice.bits, *costs);
      unit.costs = lowerHull(std::move(*costs));
      if (unit.costs.empty())
        return unit.matrices.weights.front()->emitError() << "has values that no format has";
      return success();
    });
  }

  static void give(const Unit &unit, const FormatChoice &choice, WeightGraph &graph) {
    FormatRef format = unit.costs[unit.chosen].format;
    for (Operation *op : unit.matrices.weights)
      if (auto weight = cast<WeightOp>(op); !choice.ruleOf(chosenName(weight.getSymName())))
        weight->setAttr(formatAttr, TypeAttr::get(format->type(op->getContext(), *format)));
    for (Operation *matrix : unit.matrices.matrices)
      keepImportance(cast<WeightOp>(matrix), *format, graph);
  }

  // Where it decides how values are rounded: not of a format without scales to be searched for, and not of blocks that
  // a file has.
  static void keepImportance(WeightOp matrix, const StorageFormat &wanted, WeightGraph &graph) {
    const StorageFormat &format = formatForRows(wanted, cast<RankedTensorType>(matrix.getType()).getDimSize(1));
    auto values = graph.values(matrix);
    bool isFiles = !values || (*values)->blocks() == &format;
    if (!values)
      llvm::consumeError(values.takeError());  // measured before
    matrix->removeAttr(divergenceAttr);
    if (isFiles || !format.encodeByImportance)
      matrix->removeAttr(importanceAttr);
    else if (matrix->hasAttr(importanceAttr))
      matrix->setAttr(roundedAttr, TypeAttr::get(format.type(matrix->getContext(), format)));
  }

  void tell(llvm::ArrayRef<Unit> units, int64_t values) {
    llvm::MapVector<FormatRef, int64_t> counts;
    for (const Unit &unit : units) {
      const FormatCost &cost = unit.costs[unit.chosen];
      counts[cost.format] += static_cast<int64_t>(unit.matrices.matrices.size());
      for (Operation *matrix : unit.matrices.matrices)
        remarks.did(getOperation(), [&] {
          return llvm::formatv("{0} is stored as {1}", cast<WeightOp>(matrix).getSymName(), cost.format->name);
        });
    }
    llvm::sort(counts, [](auto &a, auto &b) { return a.second > b.second; });
    std::string text =
        llvm::formatv("{0:f3} bits a value", static_cast<double>(totalBits(units)) / std::max<double>(values, 1));
    for (auto [place, entry] : llvm::enumerate(counts))
      text += llvm::formatv("{0} {1} ({2})", place == 0 ? ": matrices in" : ",", entry.first->name, entry.second);
    getOperation()->setAttr(chosenFormatsAttr, StringAttr::get(&getContext(), text));
  }
};

}  // namespace
