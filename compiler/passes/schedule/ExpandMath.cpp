// SPDX-License-Identifier: Apache-2.0
// expand-math: polynomials for exp, exp2, tanh, erf and log on vectors, and on the scalars of threads where these are
// all there is.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/MathPolynomials.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDMATH
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct ExpandMath : talc::impl::ExpandMathBase<ExpandMath> {
  using Base::Base;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      tell(function);
    RewritePatternSet patterns(&getContext());
    populateMathPolynomials(patterns, scalars);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }

  void tell(func::FuncOp function) {
    llvm::MapVector<StringRef, int64_t> counts;
    function.walk([&](Operation *op) {
      if (isa<math::ExpOp, math::Exp2Op, math::TanhOp, math::ErfOp, math::LogOp>(op) &&
          becomesPolynomial(op->getResult(0).getType(), scalars))
        ++counts[op->getName().stripDialect()];
    });
    for (auto [name, count] : counts)
      PassRemarks("schedule", "expand-math").did(function, [name = name, count = count] {
        return llvm::formatv("{0} becomes a polynomial, in {1} places", name, count);
      });
  }
};

}  // namespace
