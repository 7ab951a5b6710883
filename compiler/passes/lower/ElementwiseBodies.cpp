// SPDX-License-Identifier: Apache-2.0
// The scalar arithmetic of the elementwise talc ops, as arith and math ops.
#include "compiler/passes/lower/TalcToKernel.h"

#include "dialects/Invariant.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;

namespace talc {

namespace {

// Arithmetic on f32 values that reads like a formula.
struct Formula {
  OpBuilder &b;
  Location loc;

  Value constant(double value) const {
    return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value add(Value x, Value y) const { return arith::AddFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) const { return arith::MulFOp::create(b, loc, x, y); }
  Value mul(Value x, double y) const { return mul(x, constant(y)); }
  Value sub(Value x, Value y) const { return arith::SubFOp::create(b, loc, x, y); }
  // x > bound ? y : 0
  Value ifAbove(Value x, double bound, Value y) const {
    Value isAbove = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, constant(bound));
    return arith::SelectOp::create(b, loc, isAbove, y, constant(0.0));
  }
  // x * sigmoid(y) = x / (1 + exp(-y))
  Value timesSigmoid(Value x, Value y) const {
    Value exponential = math::ExpOp::create(b, loc, mul(y, -1.0));
    return arith::DivFOp::create(b, loc, x, add(exponential, constant(1.0)));
  }
  Value relu(Value x) const { return arith::MaximumFOp::create(b, loc, x, constant(0.0)); }
  // max(x, 0) + log(1 + u), u = e^-|x|, where log(1 + u) = 2 (s + s^3/3 + s^5/5 ...) with s = u / (2 + u) <= 1/3: small
  // results are as precise as large ones.
  Value softplus(Value x) const {
    constexpr int terms = 7;  // what follows is below 2^-25
    Value magnitude = arith::MaximumFOp::create(b, loc, x, mul(x, -1.0));
    Value u = math::ExpOp::create(b, loc, mul(magnitude, -1.0));
    Value s = arith::DivFOp::create(b, loc, u, add(u, constant(2.0))), square = mul(s, s);
    Value series = constant(1.0 / (2 * terms - 1));
    for (int term = terms - 1; term > 0; --term)
      series = add(mul(series, square), constant(1.0 / (2 * term - 1)));
    return add(mul(mul(s, 2.0), series), relu(x));
  }
};

}  // namespace

static Value activationFormula(OpBuilder &builder, Location loc, ActivationKind kind, Value x) {
  Formula f{builder, loc};
  switch (kind) {
  case ActivationKind::relu:
    return f.relu(x);
  case ActivationKind::relu_squared: {
    Value positive = f.relu(x);
    return f.mul(positive, positive);
  }
  case ActivationKind::gelu: {
    Value erf = math::ErfOp::create(builder, loc, f.mul(x, M_SQRT1_2));
    return f.mul(f.mul(x, 0.5), f.add(erf, f.constant(1.0)));
  }
  case ActivationKind::gelu_tanh: {
    // (1 + tanh u)/2 = sigmoid(2u), u = sqrt(2/pi) (x + 0.044715 x^3)
    Value cubic = f.add(f.mul(f.mul(x, x), 0.044715), f.constant(1.0));
    return f.timesSigmoid(x, f.mul(f.mul(x, cubic), 2 * std::sqrt(M_2_PI)));
  }
  case ActivationKind::silu:
    return f.timesSigmoid(x, x);
  case ActivationKind::quick_gelu:
    return f.timesSigmoid(x, f.mul(x, 1.702));
  case ActivationKind::sigmoid:
    return f.timesSigmoid(f.constant(1.0), x);
  case ActivationKind::tanh:
    return math::TanhOp::create(builder, loc, x);
  case ActivationKind::softplus:
    return f.softplus(x);
  }
  talc::endByDefect("every activation is handled");
}

Value activationBody(OpBuilder &builder, Location loc, ActivationKind kind, Value x) {
  Value result = activationFormula(builder, loc, kind, x);
  result.getDefiningOp()->setAttr(activationAttr, builder.getStringAttr(stringifyActivationKind(kind)));
  return result;
}

// The derivative of x * sigmoid(u) from x, s = sigmoid(u) and u': s + x s (1 - s) u'.
static Value gatedDerivative(const Formula &f, Value x, Value s, Value slope) {
  return f.add(s, f.mul(f.mul(x, slope), f.mul(s, f.sub(f.constant(1.0), s))));
}

static Value activationDerivative(const Formula &f, ActivationKind kind, Value x) {
  Value one = f.constant(1.0);
  switch (kind) {
  case ActivationKind::relu:
    return f.ifAbove(x, 0, one);
  case ActivationKind::relu_squared:
    return f.mul(f.relu(x), 2.0);
  case ActivationKind::gelu: {
    // (1 + erf(x / sqrt 2)) / 2 + x exp(-x^2 / 2) / sqrt(2 pi)
    Value erf = math::ErfOp::create(f.b, f.loc, f.mul(x, M_SQRT1_2));
    Value density = math::ExpOp::create(f.b, f.loc, f.mul(f.mul(x, x), -0.5));
    return f.add(f.mul(f.add(erf, one), 0.5), f.mul(f.mul(x, density), M_SQRT1_2 * M_2_SQRTPI / 2));
  }
  case ActivationKind::gelu_tanh: {
    Value square = f.mul(x, x), cubic = f.add(f.mul(square, 0.044715), one);
    Value s = f.timesSigmoid(one, f.mul(f.mul(x, cubic), 2 * std::sqrt(M_2_PI)));
    return gatedDerivative(f, x, s, f.mul(f.add(f.mul(square, 3 * 0.044715), one), 2 * std::sqrt(M_2_PI)));
  }
  case ActivationKind::silu:
    return gatedDerivative(f, x, f.timesSigmoid(one, x), one);
  case ActivationKind::quick_gelu:
    return gatedDerivative(f, x, f.timesSigmoid(one, f.mul(x, 1.702)), f.constant(1.702));
  case ActivationKind::sigmoid: {
    Value s = f.timesSigmoid(one, x);
    return f.mul(s, f.sub(one, s));
  }
  case ActivationKind::tanh: {
    Value y = math::TanhOp::create(f.b, f.loc, x);
    return f.sub(one, f.mul(y, y));
  }
  case ActivationKind::softplus:
    return f.timesSigmoid(one, x);
  }
  talc::endByDefect("every activation is handled");
}

Value elementwiseBody(OpBuilder &builder, Location loc, Operation *op, ValueRange operands) {
  Formula f{builder, loc};
  return llvm::TypeSwitch<Operation *, Value>(op)
      .Case([&](AddOp) { return f.add(operands[0], operands[1]); })
      .Case([&](MulOp) { return f.mul(operands[0], operands[1]); })
      .Case([&](ScaleOp scale) { return f.mul(operands[0], scale.getFactor().convertToDouble()); })
      .Case([&](ClampOp clamp) {
        double bound = clamp.getBound().convertToDouble();
        Value above = arith::MaximumFOp::create(builder, loc, operands[0], f.constant(-bound));
        return arith::MinimumFOp::create(builder, loc, above, f.constant(bound));
      })
      .Case([&](ActivationDgradOp dgrad) {
        return f.mul(operands[0], activationDerivative(f, dgrad.getKind(), operands[1]));
      })
      .Case([&](ClampDgradOp dgrad) {
        Value inside = math::AbsFOp::create(builder, loc, operands[1]);
        return f.ifAbove(f.mul(inside, -1.0), -dgrad.getBound().convertToDouble(), operands[0]);
      })
      .Case([&](ActivationOp activation) { return activationBody(builder, loc, activation.getKind(), operands[0]); });
}

}  // namespace talc
