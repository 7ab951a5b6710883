// SPDX-License-Identifier: Apache-2.0
// assign-formats: writes on every matrix the storage format it will have, and finds formats for a size in bits.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/FormatBudget.h"
#include "compiler/passes/optimize/FormatReport.h"
#include "compiler/passes/optimize/StorageTypes.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace talc {
#define GEN_PASS_DEF_ASSIGNFORMATS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "assign-formats");

struct AssignFormats : talc::impl::AssignFormatsBase<AssignFormats> {
  using Base::Base;

  void runOnOperation() override {
    std::string problem;
    auto choice = parseFormatChoice(weights, problem);
    if (!choice) {
      getOperation().emitError() << "weights cannot be '" << weights << "': " << problem;
      return signalPassFailure();
    }
    if ((choice->bits > 0 && failed(solveBudget(*choice))) || failed(checkNames(*choice)))
      return signalPassFailure();
    FormatReport report(getOperation());
    if (choice->mix)
      assignMix(getOperation(), *choice, report);
    assignFormats(getOperation(), *choice);
    report.write(/*describesMix=*/choice->mix);
  }

  // A name that matches no weight is a mistake.
  LogicalResult checkNames(const FormatChoice &choice) {
    for (const FormatRule &rule : choice.rules)
      if (llvm::none_of(getOperation().getOps<WeightOp>(),
                        [&](WeightOp weight) { return rule.fits(chosenName(weight.getSymName())); }))
        return getOperation().emitError() << "weights: no weight is called '" << rule.pattern << "'";
    return success();
  }

  // Finds formats that keep to a size in bits.
  LogicalResult solveBudget(const FormatChoice &choice) {
    WeightGraph graph(getOperation());
    auto units = costUnits(getOperation(), choice, graph);
    if (!units)
      return getOperation().emitError() << llvm::toString(units.takeError());
    int64_t values = totalValues(*units);
    chooseWithinBudget(*units, 0);
    double minBits = static_cast<double>(totalBits(*units)) / std::max<double>(static_cast<double>(values), 1);
    if (minBits > choice.bits)
      return getOperation().emitError() << "weights cannot have " << llvm::formatv("{0}", choice.bits)
                                        << " bits: the smallest formats have "
                                        << llvm::formatv("{0:f2}", std::ceil(minBits * 100) / 100) << " on average";
    chooseWithinBudget(*units, static_cast<int64_t>(choice.bits * static_cast<double>(values)));
    for (const CostedUnit &unit : *units)
      applyFormat(unit, choice, graph);
    report(*units, values);
    return success();
  }

  static void applyFormat(const CostedUnit &unit, const FormatChoice &choice, WeightGraph &graph) {
    FormatRef format = unit.cost().format;
    for (Operation *op : unit.matrices.weights)
      if (auto weight = cast<WeightOp>(op); !choice.findRule(chosenName(weight.getSymName())))
        weight->setAttr(formatAttr, TypeAttr::get(format->type(op->getContext(), *format)));
    for (Operation *matrix : unit.matrices.matrices)
      keepImportance(cast<WeightOp>(matrix), *format, graph);
  }

  // Importance stays where it changes how values are quantized: not for formats without a search for scales, and not
  // for blocks that come from a file.
  static void keepImportance(WeightOp matrix, const StorageFormat &wanted, WeightGraph &graph) {
    const StorageFormat &format = formatForRows(wanted, cast<RankedTensorType>(matrix.getType()).getDimSize(1));
    auto values = graph.values(matrix);
    bool isFromFile = !values || (*values)->blocks() == &format;
    if (!values)
      llvm::consumeError(values.takeError());  // costUnits has read them
    matrix->removeAttr(divergenceAttr);
    if (isFromFile || !format.encodeByImportance)
      matrix->removeAttr(importanceAttr);
    else if (matrix->hasAttr(importanceAttr))
      matrix->setAttr(quantizeToAttr, TypeAttr::get(format.type(matrix->getContext(), format)));
  }

  void report(llvm::ArrayRef<CostedUnit> units, int64_t values) {
    llvm::MapVector<FormatRef, int64_t> counts;
    for (const CostedUnit &unit : units) {
      const FormatCost &cost = unit.cost();
      counts[cost.format] += static_cast<int64_t>(unit.matrices.matrices.size());
      for (Operation *matrix : unit.matrices.matrices)
        remarks.did(getOperation(), [&] {
          return llvm::formatv("{0} is stored as {1}", cast<WeightOp>(matrix).getSymName(), cost.format->name);
        });
    }
    llvm::sort(counts, [](auto &a, auto &b) { return a.second > b.second; });
    std::string text =
        llvm::formatv("{0:f3} bits a value", static_cast<double>(totalBits(units)) / std::max<double>(values, 1));
    for (auto [index, entry] : llvm::enumerate(counts))
      text += llvm::formatv("{0} {1} ({2})", index == 0 ? ": matrices in" : ",", entry.first->name, entry.second);
    getOperation()->setAttr(chosenFormatsAttr, StringAttr::get(&getContext(), text));
  }
};

}  // namespace
