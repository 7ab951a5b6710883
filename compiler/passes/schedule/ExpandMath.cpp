// SPDX-License-Identifier: Apache-2.0
// expand-math: expands exp, exp2, tanh, erf and log into polynomials, on vectors and optionally on scalars; and
// conversion to bf16 into integer code.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/MathPolynomials.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
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
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) || failed(expandRounding()))
      signalPassFailure();
  }

  // Rounds to nearest, ties to even. Instructions for bf16 flush subnormal numbers to zero, and CPUs without them call
  // a library. Conversion from bf16 is left to LLVM, which shifts.
  LogicalResult expandRounding() {
    SmallVector<Operation *> roundings;
    getOperation().walk([&](arith::TruncFOp op) {
      if (isa<BFloat16Type>(getElementTypeOrSelf(op.getType())))
        roundings.push_back(op);
    });
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    return applyOpPatternsGreedily(roundings, std::move(patterns),
                                   GreedyRewriteConfig().setStrictness(GreedyRewriteStrictness::ExistingOps));
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
