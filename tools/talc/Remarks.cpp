// SPDX-License-Identifier: Apache-2.0
// Upstream's remark engine with a streamer of one line: stage, function, reason.
#include "tools/talc/Remarks.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Remarks.h"
#include "llvm/Support/Regex.h"

namespace talc::tools {

namespace {

class LinePrinter : public mlir::remark::detail::MLIRRemarkStreamerBase {
public:
  void streamOptimizationRemark(const mlir::remark::detail::Remark &remark) override {
    llvm::errs() << "remark: " << remark.getCombinedCategoryName() << ": " << remark.getFunction();
    for (const auto &part : remark.getArgs())
      llvm::errs() << ": " << part.val;
    llvm::errs() << "\n";
  }
};

}  // namespace

std::string printRemarks(mlir::MLIRContext &context, const std::string &categories) {
  std::string problem;
  if (!llvm::Regex(categories).isValid(problem))
    return problem;
  mlir::remark::RemarkCategories wanted;
  wanted.passed = wanted.missed = wanted.analysis = wanted.failed = categories;
  auto policy = std::make_unique<mlir::remark::RemarkEmittingPolicyAll>();
  if (failed(
          mlir::remark::enableOptimizationRemarks(context, std::make_unique<LinePrinter>(), std::move(policy), wanted)))
    return "remarks cannot be enabled";
  return "";
}

}  // namespace talc::tools
