// SPDX-License-Identifier: Apache-2.0
// Derivatives of activation functions, and the gradients of experts and of their router.
#include "compiler/reference/GradientOps.h"
#include "dialects/Invariant.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

namespace talc::reference {

static double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

double derivative(ActivationKind kind, double x) {
  switch (kind) {
  case ActivationKind::relu:
    return x > 0 ? 1 : 0;
  case ActivationKind::relu_squared:
    return x > 0 ? 2 * x : 0;
  case ActivationKind::gelu:
    return 0.5 * (1 + std::erf(x / std::sqrt(2.0))) + x * std::exp(-x * x / 2) / std::sqrt(2 * M_PI);
  case ActivationKind::gelu_tanh: {
    const double c = std::sqrt(2 / M_PI), a = 0.044715, y = std::tanh(c * (x + a * x * x * x));
    return 0.5 * (1 + y) + 0.5 * x * (1 - y * y) * c * (1 + 3 * a * x * x);
  }
  case ActivationKind::silu:
    return sigmoid(x) * (1 + x * (1 - sigmoid(x)));
  case ActivationKind::quick_gelu: {
    const double s = sigmoid(1.702 * x);
    return s * (1 + 1.702 * x * (1 - s));
  }
  case ActivationKind::tanh:
    return 1 - std::tanh(x) * std::tanh(x);
  case ActivationKind::sigmoid:
    return sigmoid(x) * (1 - sigmoid(x));
  case ActivationKind::softplus:
    return sigmoid(x);
  }
  endByDefect("every activation function is listed");
}

Matrix evaluate(RouteDgradOp op, const Matrix &gradient, const Matrix &x, const Matrix &y) {
  Matrix result(x.rows, x.columns);
  for (int64_t t = 0; t < x.rows; ++t) {
    double mean = 0, total = 0;
    for (int64_t e = 0; e < x.columns; ++e)
      if (y.at(t, e) != 0) {
        mean += gradient.at(t, e) * y.at(t, e);
        total += x.at(t, e);
      }
    for (int64_t e = 0; e < x.columns; ++e)
      if (y.at(t, e) != 0)
        result.at(t, e) = op.getNormalized() ? (gradient.at(t, e) - mean) / total : gradient.at(t, e);
  }
  return result;
}

namespace {

// The weights of an operation on experts.
struct ExpertWeights {
  WeightPtr gate, up, down;
  std::vector<WeightPtr> biases;  // of gate, up and down; or none
  ActivationKind kind;
  double clamp;
  int64_t experts;

  template <typename Op>
  ExpertWeights(Op op, const Frame &frame)
      : gate(frame.weight(op.getGate())), up(frame.weight(op.getUp())), down(frame.weight(op.getDown())),
        kind(op.getKind()), clamp(op.getClamp().convertToDouble()),
        experts(mlir::cast<mlir::RankedTensorType>(op.getRoutes().getType()).getDimSize(1)) {
    for (mlir::Value bias : op.getBiases())
      biases.push_back(frame.weight(bias));
  }

  int64_t width() const { return down->shape[1]; }
  int64_t outputs() const { return down->shape[0] / experts; }
  double bias(size_t which, int64_t place) const { return biases.empty() ? 0 : biases[which]->values[place]; }
};

// One expert computes this for a token, and has these gradients inside of it.
struct ExpertToken {
  std::vector<double> hidden, dgate, dup;  // dgate and dup: of the sums before activation and clamps
  double output = 0;                       // the product of the gradient with the expert's result

  ExpertToken(const ExpertWeights &w, int64_t expert, const Matrix &x, int64_t t, const Matrix &gradient,
              double route) {
    int64_t width = w.width(), first = expert * width;
    for (int64_t n = 0; n < width; ++n) {
      double a = w.bias(0, first + n), u = w.bias(1, first + n);
      for (int64_t k = 0; k < x.columns; ++k) {
        a += x.at(t, k) * w.gate->values[(first + n) * x.columns + k];
        u += x.at(t, k) * w.up->values[(first + n) * x.columns + k];
      }
      bool isOpenGate = w.clamp == 0 || a < w.clamp, isOpenUp = w.clamp == 0 || std::fabs(u) < w.clamp;
      if (w.clamp > 0) {
        a = std::min(a, w.clamp);
        u = std::min(std::max(u, -w.clamp), w.clamp) + 1;
      }
      hidden.push_back(activate(w.kind, a) * u);
      double dhidden = 0;
      for (int64_t o = 0; o < w.outputs(); ++o)
        dhidden += gradient.at(t, o) * w.down->values[(expert * w.outputs() + o) * width + n];
      output += dhidden * hidden.back();
      dgate.push_back(isOpenGate ? route * dhidden * u * derivative(w.kind, a) : 0);
      dup.push_back(isOpenUp ? route * dhidden * activate(w.kind, a) : 0);
    }
    for (int64_t o = 0; o < w.outputs(); ++o)
      output += gradient.at(t, o) * w.bias(2, expert * w.outputs() + o);
  }
};

template <typename Visit> void eachRoute(const Matrix &routes, Visit visit) {
  for (int64_t t = 0; t < routes.rows; ++t)
    for (int64_t expert = 0; expert < routes.columns; ++expert)
      if (double route = routes.at(t, expert); route != 0)
        visit(t, expert, route);
}

void evaluate(ExpertsDgradOp op, Frame &frame) {
  ExpertWeights w(op, frame);
  MatrixPtr gradient = frame.matrix(op.getGradient()), x = frame.matrix(op.getX()),
            routes = frame.matrix(op.getRoutes());
  Matrix dx(x->rows, x->columns), droutes(routes->rows, routes->columns);
  eachRoute(*routes, [&](int64_t t, int64_t expert, double route) {
    ExpertToken token(w, expert, *x, t, *gradient, route);
    droutes.at(t, expert) = token.output;
    for (int64_t n = 0; n < w.width(); ++n)
      for (int64_t k = 0; k < x->columns; ++k) {
        int64_t place = (expert * w.width() + n) * x->columns + k;
        dx.at(t, k) += token.dgate[n] * w.gate->values[place] + token.dup[n] * w.up->values[place];
      }
  });
  frame.set(op.getDx(), std::move(dx));
  frame.set(op.getDroutes(), std::move(droutes));
}

void evaluate(ExpertsWgradOp op, const Frame &frame) {
  ExpertWeights w(op, frame);
  MatrixPtr gradient = frame.matrix(op.getGradient()), x = frame.matrix(op.getX()),
            routes = frame.matrix(op.getRoutes());
  std::vector<GradientSum *> sums;
  for (mlir::Value buffer : op.getBuffers())
    sums.push_back(&frame.gradient(buffer));
  eachRoute(*routes, [&](int64_t t, int64_t expert, double route) {
    ExpertToken token(w, expert, *x, t, *gradient, route);
    for (int64_t n = 0; n < w.width(); ++n) {
      int64_t place = expert * w.width() + n;
      for (int64_t k = 0; k < x->columns; ++k) {
        sums[0]->values[place * x->columns + k] += token.dgate[n] * x->at(t, k);
        sums[1]->values[place * x->columns + k] += token.dup[n] * x->at(t, k);
      }
      for (int64_t o = 0; o < w.outputs(); ++o)
        sums[2]->values[(expert * w.outputs() + o) * w.width() + n] += route * gradient->at(t, o) * token.hidden[n];
      if (!w.biases.empty()) {
        sums[3]->values[place] += token.dgate[n];
        sums[4]->values[place] += token.dup[n];
      }
    }
    for (int64_t o = 0; o < w.outputs() && !w.biases.empty(); ++o)
      sums[5]->values[expert * w.outputs() + o] += route * gradient->at(t, o);
  });
}

}  // namespace

bool evaluateExpertsGradient(mlir::Operation *op, Frame &frame) {
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case<ExpertsDgradOp, ExpertsWgradOp>([&](auto op) {
        evaluate(op, frame);
        return true;
      })
      .Default([](mlir::Operation *) { return false; });
}

}  // namespace talc::reference
