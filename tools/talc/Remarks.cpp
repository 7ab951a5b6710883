// SPDX-License-Identifier: Apache-2.0
// Upstream's remark engine with a streamer of one line: stage, pass, function, text.
#include "tools/talc/Remarks.h"

#include "runtime/NearestWord.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Regex.h"

namespace talc::tools {

// The stages whose passes make remarks.
static const std::string remarkStages[] = {"optimize", "lower", "bufferize", "schedule", "codegen", "package"};

namespace {

class LinePrinter : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  LinePrinter(const std::string &printed, std::function<void(std::string)> listener)
      : printed(printed), prints(!printed.empty()), listener(std::move(listener)) {}

  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    std::string line =
        (remark.getCombinedCategoryName() + ": " + remark.getRemarkName() + ": " + remark.getFunction()).str();
    for (const auto &part : remark.getArgs())
      line += ": " + part.val;
    if (prints && printed.match(remark.getCombinedCategoryName()))
      llvm::errs() << "remark: " << line << "\n";
    if (listener)
      listener(std::move(line));
  }

private:
  llvm::Regex printed;
  bool prints;
  std::function<void(std::string)> listener;
};

}  // namespace

std::string collectRemarks(mlir::MLIRContext &context, const std::string &printed,
                           std::function<void(std::string line)> listener) {
  std::string problem;
  if (!printed.empty() && !llvm::Regex(printed).isValid(problem))
    return "is not a regular expression: " + problem;
  if (!printed.empty() &&
      llvm::none_of(remarkStages, [&](const std::string &s) { return llvm::Regex(printed).match(s); }))
    return "matches none of the stages whose passes make remarks: " + llvm::join(llvm::ArrayRef(remarkStages), ", ") +
           suggestion(printed, {std::begin(remarkStages), std::end(remarkStages)});
  mlir::remark::RemarkCategories wanted;
  wanted.passed = wanted.missed = wanted.analysis = wanted.failed = listener ? ".*" : printed;
  auto printer = std::make_unique<LinePrinter>(printed, std::move(listener));
  auto policy = std::make_unique<mlir::remark::RemarkEmittingPolicyAll>();
  if (failed(mlir::remark::enableOptimizationRemarks(context, std::move(printer), std::move(policy), wanted)))
    return "remarks cannot be enabled";
  return "";
}

}  // namespace talc::tools
