// SPDX-License-Identifier: Apache-2.0
// expand-math: polynomials for exp, tanh and erf on vectors.
//
// exp is our own: one fused multiply-add chain, within 1 ulp on [-87.3, 88.3] (arguments beyond are clamped; NaN stays
// NaN), faster than upstream's at the same error. tanh and erf are upstream's approximations, within 5 ulp.
//
//   n = round(x / ln 2), by adding 1.5 * 2^23;  r = x - n ln 2 in two steps;  exp(x) = p(r) * 2^n
//
// p: minimax coefficients of Cephes expf (Moshier 1989).
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/Emitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDMATH
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct ExpandExp : OpRewritePattern<math::ExpOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(math::ExpOp op, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<VectorType>(op.getType());
    if (!type || type.getRank() != 1 || !type.getElementType().isF32())
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    Emitter e(rewriter, op.getLoc(), type.getDimSize(0));
    auto bits = VectorType::get(type.getShape(), rewriter.getI32Type());
    Value x = clamp(e, op.getOperand(), -87.3365402, 88.3762626647949);
    Value shift = e.splat(12582912.0);
    Value shifted = e.fma(x, e.splat(1.44269504088896341), shift);
    Value n = e.subf(shifted, shift);
    Value r = e.fma(n, e.splat(2.12194440e-4), e.fma(n, e.splat(-0.693359375), x));
    Value p = e.splat(1.9875691500e-4);
    for (double c : {1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1})
      p = e.fma(p, r, e.splat(c));
    p = e.addf(e.fma(p, e.mulf(r, r), r), e.splat(1.0));
    // 2^n: the low bits of `shifted` hold n; move them to the exponent.
    Value exponent = arith::BitcastOp::create(rewriter, op.getLoc(), bits, shifted);
    auto places = DenseElementsAttr::get(bits, rewriter.getI32IntegerAttr(23));
    exponent = arith::ShLIOp::create(rewriter, op.getLoc(), exponent,
                                     arith::ConstantOp::create(rewriter, op.getLoc(), places));
    Value mantissa = arith::BitcastOp::create(rewriter, op.getLoc(), bits, p);
    Value result = arith::AddIOp::create(rewriter, op.getLoc(), mantissa, exponent);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, type, result);
    return success();
  }

  // Both comparisons are false for NaN, which passes.
  static Value clamp(Emitter &e, Value x, double low, double high) {
    auto compare = [&](arith::CmpFPredicate predicate, Value y) {
      return arith::CmpFOp::create(e.b, e.loc, predicate, x, y);
    };
    Value least = e.splat(low), most = e.splat(high);
    x = e.select(compare(arith::CmpFPredicate::OLT, least), least, x);
    return e.select(compare(arith::CmpFPredicate::OGT, most), most, x);
  }
};

struct ExpandMath : talc::impl::ExpandMathBase<ExpandMath> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<ExpandExp>(&getContext(), /*benefit=*/2);
    populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
      return name == math::TanhOp::getOperationName() || name == math::ErfOp::getOperationName();
    });
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};

}  // namespace
