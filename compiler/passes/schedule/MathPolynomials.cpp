// SPDX-License-Identifier: Apache-2.0
// exp and exp2 are a chain of fused multiply-adds, within 1 ulp on [-87.3, 88.3] and [-126, 127.5] (other arguments are
// clamped; NaN stays NaN), which is faster than upstream at the same error. tanh and erf are the approximations of
// upstream, within 5 ulp.
//
//   exp:   n = round(x / ln 2), by adding 1.5 * 2^23;  r = x - n ln 2 in two steps;  exp(x) = p(r) * 2^n
//   exp2:  n = round(x), in the same way;              r = x - n;                    exp2(x) = p(r) * 2^n
//
// p: minimax coefficients of Cephes expf and exp2f (Moshier 1989).
#include "compiler/passes/schedule/MathPolynomials.h"

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"

using namespace mlir;

namespace talc {

namespace {

constexpr double shift = 12582912.0;  // 1.5 * 2^23: a sum with it is rounded to an integer, in its low bits

// Both comparisons are false for NaN, which stays NaN.
Value clamp(Emitter &e, Value x, double low, double high) {
  auto compare = [&](arith::CmpFPredicate predicate, Value y) {
    return arith::CmpFOp::create(e.b, e.loc, predicate, x, y);
  };
  Value lowest = e.splat(low), highest = e.splat(high);
  x = e.select(compare(arith::CmpFPredicate::OLT, lowest), lowest, x);
  return e.select(compare(arith::CmpFPredicate::OGT, highest), highest, x);
}

Value polynomial(Emitter &e, Value x, ArrayRef<double> coefficients) {
  Value p = e.splat(coefficients.front());
  for (double c : coefficients.drop_front())
    p = e.fma(p, x, e.splat(c));
  return p;
}

Value integerConstant(Emitter &e, Type type, int32_t value) {
  TypedAttr number = e.b.getI32IntegerAttr(value);
  if (auto vector = dyn_cast<VectorType>(type))
    number = DenseElementsAttr::get(vector, Attribute(number));
  return arith::ConstantOp::create(e.b, e.loc, number);
}

// x * 2^n: adds the low bits of `shifted` = n + shift to the exponent of x.
Value scaleByPower(Emitter &e, Value x, Value shifted) {
  Type type = x.getType(), bits = e.vectorOf(e.b.getI32Type());
  auto bitsOf = [&](Value value) { return arith::BitcastOp::create(e.b, e.loc, bits, value); };
  Value places = integerConstant(e, bits, 23);
  Value exponent = arith::ShLIOp::create(e.b, e.loc, bitsOf(shifted), places);
  Value result = arith::AddIOp::create(e.b, e.loc, bitsOf(x), exponent);
  return arith::BitcastOp::create(e.b, e.loc, type, result);
}

Value expandExp(Emitter &e, Value x) {
  x = clamp(e, x, -87.3365402, 88.3762626647949);
  Value shifted = e.fma(x, e.splat(1.44269504088896341), e.splat(shift)), n = e.subf(shifted, e.splat(shift));
  Value r = e.fma(n, e.splat(2.12194440e-4), e.fma(n, e.splat(-0.693359375), x));
  Value p = polynomial(
      e, r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1});
  return scaleByPower(e, e.addf(e.fma(p, e.mulf(r, r), r), e.splat(1.0)), shifted);
}

Value expandExp2(Emitter &e, Value x) {
  x = clamp(e, x, -126, 127.5);
  Value shifted = e.addf(x, e.splat(shift)), r = e.subf(x, e.subf(shifted, e.splat(shift)));
  Value p = polynomial(e, r,
                       {1.535336188319500e-4, 1.339887440266574e-3, 9.618437357674640e-3, 5.550332471162809e-2,
                        2.402264791363012e-1, 6.931472028550421e-1, 1.0});
  return scaleByPower(e, p, shifted);
}

template <typename Op> struct ExpandPower : OpRewritePattern<Op> {
  using Expansion = Value (*)(Emitter &, Value);

  ExpandPower(MLIRContext *context, Expansion expansion, bool scalars)
      : OpRewritePattern<Op>(context, /*benefit=*/2), expansion(expansion), scalars(scalars) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!becomesPolynomial(op.getType(), scalars))
      return rewriter.notifyMatchFailure(op, "not a vector of f32");
    auto type = dyn_cast<VectorType>(op.getType());
    Emitter vectors(rewriter, op.getLoc(), type ? type.getDimSize(0) : 1);
    WorkgroupEmitter ofThread(rewriter, op.getLoc(), 1);
    rewriter.replaceOp(op, expansion(type ? vectors : ofThread, op.getOperand()));
    return success();
  }

  Expansion expansion;
  bool scalars;
};

}  // namespace

bool becomesPolynomial(Type type, bool scalars) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getRank() == 1 && vector.getElementType().isF32() : scalars && type.isF32();
}

void populateMathPolynomials(RewritePatternSet &patterns, bool scalars) {
  patterns.add<ExpandPower<math::ExpOp>>(patterns.getContext(), expandExp, scalars);
  patterns.add<ExpandPower<math::Exp2Op>>(patterns.getContext(), expandExp2, scalars);
  populateMathPolynomialApproximationPatterns(patterns, [](StringRef name) {
    return name == math::TanhOp::getOperationName() || name == math::ErfOp::getOperationName() ||
           name == math::LogOp::getOperationName();
  });
}

}  // namespace talc
