// SPDX-License-Identifier: Apache-2.0
// choose-formats: a storage format for each matrix, so that all together have a wanted size and least error.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/optimize/FormatBudget.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

namespace talc {
#define GEN_PASS_DEF_CHOOSEFORMATS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("optimize", "choose-formats");

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
    WeightGraph graph(getOperation());
    auto units = costUnits(getOperation(), choice, graph);
    if (!units)
      return getOperation().emitError() << llvm::toString(units.takeError());
    int64_t values = totalValues(*units);
    chooseWithinBudget(*units, 0);
    auto least = static_cast<double>(totalBits(*units)) / std::max<double>(values, 1);
    if (least > choice.bits)
      return getOperation().emitError() << "weights cannot have " << llvm::formatv("{0}", choice.bits)
                                        << " bits: the smallest formats have "
                                        << llvm::formatv("{0:f2}", std::ceil(least * 100) / 100) << " on average";
    chooseWithinBudget(*units, static_cast<int64_t>(choice.bits * static_cast<double>(values)));
    for (const CostedUnit &unit : *units)
      give(unit, choice, graph);
    tell(*units, values);
    return success();
  }

  static void give(const CostedUnit &unit, const FormatChoice &choice, WeightGraph &graph) {
    FormatRef format = unit.cost().format;
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
      matrix->setAttr(quantizeToAttr, TypeAttr::get(format.type(matrix->getContext(), format)));
  }

  void tell(llvm::ArrayRef<CostedUnit> units, int64_t values) {
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
    for (auto [place, entry] : llvm::enumerate(counts))
      text += llvm::formatv("{0} {1} ({2})", place == 0 ? ": matrices in" : ",", entry.first->name, entry.second);
    getOperation()->setAttr(chosenFormatsAttr, StringAttr::get(&getContext(), text));
  }
};

}  // namespace
