// SPDX-License-Identifier: Apache-2.0
// The operations of backward functions, but for attention's.
#include "compiler/reference/GradientOps.h"

#include "dialects/Invariant.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

namespace talc::reference {

static int64_t countColumns(mlir::Value value) {
  return mlir::cast<mlir::RankedTensorType>(value.getType()).getDimSize(1);
}

//===--- layers -----------------------------------------------------------------------------------------------===//

static Matrix evaluate(LinearDgradOp op, const Matrix &gradient, const Weight &weight) {
  Matrix result(gradient.rows, countColumns(op.getResult()));
  int64_t groups = op.getGroups(), outputs = gradient.columns / groups, features = result.columns / groups;
  for (int64_t n = 0; n < gradient.columns; ++n) {
    std::vector<double> weights = row(weight, n);
    for (int64_t t = 0; t < gradient.rows; ++t)
      for (size_t k = 0; k < weights.size(); ++k)
        result.at(t, n / outputs * features + static_cast<int64_t>(k)) += gradient.at(t, n) * weights[k];
  }
  return result;
}

static void evaluate(LinearWgradOp op, const Matrix &gradient, const Matrix &x, GradientSum &sum) {
  int64_t groups = op.getGroups(), outputs = gradient.columns / groups, features = x.columns / groups;
  int64_t depth = sum.shape[1];
  for (int64_t t = 0; t < gradient.rows; ++t)
    for (int64_t n = 0; n < gradient.columns; ++n)
      for (int64_t k = 0; k < depth; ++k)
        sum.values[n * depth + k] += gradient.at(t, n) * x.at(t, n / outputs * features + k);
}

static void evaluate(SumRowsOp, const Matrix &gradient, GradientSum &sum) {
  for (int64_t t = 0; t < gradient.rows; ++t)
    for (int64_t n = 0; n < gradient.columns; ++n)
      sum.values[n % sum.values.size()] += gradient.at(t, n);
}

// One group of features of a token, normalized: h = (x - mean) * inverse.
namespace {
struct NormalizedGroup {
  double mean = 0, inverse = 0;

  NormalizedGroup(NormKind kind, double epsilon, const Matrix &x, int64_t t, int64_t first, int64_t width) {
    double squares = 0;
    for (int64_t i = 0; i < width && kind == NormKind::layer; ++i)
      mean += x.at(t, first + i) / static_cast<double>(width);
    for (int64_t i = 0; i < width; ++i)
      squares += (x.at(t, first + i) - mean) * (x.at(t, first + i) - mean) / static_cast<double>(width);
    inverse = 1 / std::sqrt(squares + epsilon);
  }
};
}  // namespace

static Matrix evaluate(NormDgradOp op, const Matrix &gradient, const Matrix &x, const Weight &scale) {
  Matrix result(x.rows, x.columns);
  int64_t width = x.columns / static_cast<int64_t>(op.getGroups());
  bool isLayer = op.getKind() == NormKind::layer;
  for (int64_t t = 0; t < x.rows; ++t)
    for (int64_t first = 0; first < x.columns; first += width) {
      NormalizedGroup group(op.getKind(), op.getEpsilon().convertToDouble(), x, t, first, width);
      auto w = [&](int64_t i) { return gradient.at(t, i) * scale.values[i % scale.values.size()]; };
      auto h = [&](int64_t i) { return (x.at(t, i) - group.mean) * group.inverse; };
      double sum = 0, product = 0;
      for (int64_t i = first; i < first + width; ++i) {
        sum += w(i) / static_cast<double>(width);
        product += w(i) * h(i) / static_cast<double>(width);
      }
      for (int64_t i = first; i < first + width; ++i)
        result.at(t, i) = group.inverse * (w(i) - (isLayer ? sum : 0) - h(i) * product);
    }
  return result;
}

static void evaluate(NormWgradOp op, const Matrix &gradient, const Matrix &x, GradientSum &sum) {
  int64_t width = x.columns / static_cast<int64_t>(op.getGroups());
  for (int64_t t = 0; t < x.rows; ++t)
    for (int64_t first = 0; first < x.columns; first += width) {
      NormalizedGroup group(op.getKind(), op.getEpsilon().convertToDouble(), x, t, first, width);
      for (int64_t i = first; i < first + width; ++i)
        sum.values[i % sum.values.size()] += gradient.at(t, i) * (x.at(t, i) - group.mean) * group.inverse;
    }
}

static Matrix evaluate(ActivationDgradOp op, const Matrix &gradient, const Matrix &x) {
  Matrix result(x.rows, x.columns);
  for (size_t i = 0; i < x.values.size(); ++i)
    result.values[i] = gradient.values[i] * derivative(op.getKind(), x.values[i]);
  return result;
}

static Matrix evaluate(SoftmaxDgradOp, const Matrix &gradient, const Matrix &y) {
  Matrix result(y.rows, y.columns);
  for (int64_t t = 0; t < y.rows; ++t) {
    double sum = 0;
    for (int64_t i = 0; i < y.columns; ++i)
      sum += gradient.at(t, i) * y.at(t, i);
    for (int64_t i = 0; i < y.columns; ++i)
      result.at(t, i) = y.at(t, i) * (gradient.at(t, i) - sum);
  }
  return result;
}

static Matrix evaluate(ClampDgradOp op, const Matrix &gradient, const Matrix &x) {
  Matrix result = gradient;
  for (size_t i = 0; i < x.values.size(); ++i)
    if (std::fabs(x.values[i]) >= op.getBound().convertToDouble())
      result.values[i] = 0;
  return result;
}

//===--- selections and lookups -------------------------------------------------------------------------------===//

static Matrix evaluate(SpreadOp op, const Matrix &gradient, const StepSequences &step) {
  Matrix result(step.rows(), gradient.columns);
  const std::vector<int64_t> &tokens = step.outputs[op.getOutput()];
  for (int64_t r = 0; r < gradient.rows; ++r)
    for (int64_t i = 0; i < gradient.columns; ++i)
      result.at(tokens[r], i) += gradient.at(r, i);
  return result;
}

static Matrix evaluate(PlaceOp op, const Matrix &gradient) {
  Matrix result(gradient.rows, countColumns(op.getResult()));
  for (int64_t t = 0; t < gradient.rows; ++t)
    for (int64_t i = 0; i < gradient.columns; ++i)
      result.at(t, static_cast<int64_t>(op.getOffset()) + i) = gradient.at(t, i);
  return result;
}

static Matrix evaluate(SliceHeadsOp op, const Matrix &gradient) {
  Matrix result(gradient.rows, countColumns(op.getResult()));
  int64_t heads = op.getHeads(), from = gradient.columns / heads, width = result.columns / heads;
  for (int64_t t = 0; t < gradient.rows; ++t)
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < width; ++i)
        result.at(t, h * width + i) = gradient.at(t, h * from + static_cast<int64_t>(op.getOffset()) + i);
  return result;
}

static void addRow(const Matrix &gradient, int64_t t, int64_t place, GradientSum &sum) {
  for (int64_t i = 0; i < gradient.columns; ++i)
    sum.values[place * gradient.columns + i] += gradient.at(t, i);
}

static void evaluate(EmbeddingWgradOp op, llvm::ArrayRef<int32_t> ids, const Matrix &gradient, GradientSum &sum) {
  for (int64_t t = 0; t < gradient.rows; ++t)
    if (int64_t place = ids[t] - static_cast<int64_t>(op.getFirst()); place >= 0 && place < sum.shape[0])
      addRow(gradient, t, place, sum);
}

static void evaluate(PositionWgradOp op, llvm::ArrayRef<int32_t> ids, const Matrix &gradient, const StepSequences &step,
                     GradientSum &sum) {
  std::vector<int64_t> positions = countPositions(op.getPadding(), ids, step);
  for (int64_t t = 0; t < gradient.rows; ++t)
    addRow(gradient, t, positions[t] + static_cast<int64_t>(op.getOffset()), sum);
}

static void evaluate(TokenTypeWgradOp, const Matrix &gradient, const StepSequences &step, GradientSum &sum) {
  for (int64_t t = 0; t < gradient.rows; ++t)
    addRow(gradient, t, step.types[t], sum);
}

//===--- loss -------------------------------------------------------------------------------------------------===//

static std::pair<Matrix, Matrix> evaluate(CrossEntropyOp op, const Matrix &logits, llvm::ArrayRef<int32_t> labels) {
  Matrix loss(logits.rows, 1), gradient(logits.rows, logits.columns);
  auto count = static_cast<double>(llvm::count_if(labels, [](int32_t label) { return label >= 0; }));
  const double smoothing = op.getSmoothing().convertToDouble(), share = smoothing / double(logits.columns);
  for (int64_t t = 0; t < logits.rows; ++t) {
    if (labels[t] < 0)
      continue;
    double highest = -HUGE_VAL, sum = 0;
    for (int64_t i = 0; i < logits.columns; ++i)
      highest = std::max(highest, logits.at(t, i));
    for (int64_t i = 0; i < logits.columns; ++i)
      sum += std::exp(logits.at(t, i) - highest);
    for (int64_t i = 0; i < logits.columns; ++i) {
      double log = logits.at(t, i) - highest - std::log(sum), target = share + (i == labels[t] ? 1 - smoothing : 0);
      loss.at(t, 0) -= target * log;
      gradient.at(t, i) = (std::exp(log) - target) / count;
    }
  }
  return {std::move(loss), std::move(gradient)};
}

//===--- all --------------------------------------------------------------------------------------------------===//

static GradientSum &findBuffer(GetGradientOp op, TrainingStep &training) {
  GradientSum &sum = training.gradients[op.getName().str()];
  if (sum.values.empty()) {
    auto type = mlir::cast<mlir::MemRefType>(op.getResult().getType());
    sum = {type.getShape().vec(), std::vector<double>(type.getNumElements())};
  }
  return sum;
}

static bool evaluateDgrad(mlir::Operation *op, Frame &frame, const StepSequences &step) {
  auto matrix = [&](mlir::Value value) -> const Matrix & { return *frame.matrix(value); };
  auto result =
      llvm::TypeSwitch<mlir::Operation *, std::optional<Matrix>>(op)
          .Case([&](LinearDgradOp op) { return evaluate(op, matrix(op.getGradient()), *frame.weight(op.getWeight())); })
          .Case([&](NormDgradOp op) {
            return evaluate(op, matrix(op.getGradient()), matrix(op.getX()), *frame.weight(op.getScale()));
          })
          .Case<ActivationDgradOp, ClampDgradOp>(
              [&](auto op) { return evaluate(op, matrix(op.getGradient()), matrix(op.getX())); })
          .Case([&](SoftmaxDgradOp op) { return evaluate(op, matrix(op.getGradient()), matrix(op.getY())); })
          .Case([&](RopeDgradOp op) {
            return evaluate(op, matrix(op.getGradient()), step, frame.weight(op.getTable()).get());
          })
          .Case([&](RouteDgradOp op) {
            return evaluate(op, matrix(op.getGradient()), matrix(op.getX()), matrix(op.getY()));
          })
          .Case([&](SpreadOp op) { return evaluate(op, matrix(op.getGradient()), step); })
          .Case<PlaceOp, SliceHeadsOp>([&](auto op) { return evaluate(op, matrix(op.getGradient())); })
          .Default([](mlir::Operation *) { return std::nullopt; });
  if (result)
    frame.set(op->getResult(0), std::move(*result));
  return result.has_value();
}

static bool evaluateWgrad(mlir::Operation *op, Frame &frame, llvm::ArrayRef<int32_t> ids, const StepSequences &step) {
  auto matrix = [&](mlir::Value value) -> const Matrix & { return *frame.matrix(value); };
  return llvm::TypeSwitch<mlir::Operation *, bool>(op)
      .Case<LinearWgradOp, NormWgradOp>([&](auto op) {
        evaluate(op, matrix(op.getGradient()), matrix(op.getX()), frame.gradient(op.getBuffer()));
        return true;
      })
      .Case([&](SumRowsOp op) {
        evaluate(op, matrix(op.getGradient()), frame.gradient(op.getBuffer()));
        return true;
      })
      .Case([&](EmbeddingWgradOp op) {
        evaluate(op, ids, matrix(op.getGradient()), frame.gradient(op.getBuffer()));
        return true;
      })
      .Case([&](PositionWgradOp op) {
        evaluate(op, ids, matrix(op.getGradient()), step, frame.gradient(op.getBuffer()));
        return true;
      })
      .Case([&](TokenTypeWgradOp op) {
        evaluate(op, matrix(op.getGradient()), step, frame.gradient(op.getBuffer()));
        return true;
      })
      .Default([](mlir::Operation *) { return false; });
}

bool evaluateGradient(mlir::Operation *op, Frame &frame, llvm::ArrayRef<int32_t> ids, const StepSequences &step,
                      TrainingStep &training) {
  if (auto get = mlir::dyn_cast<GetGradientOp>(op)) {
    frame.set(get.getResult(), Content(&findBuffer(get, training)));
    return true;
  }
  if (auto loss = mlir::dyn_cast<CrossEntropyOp>(op)) {
    auto [losses, gradient] = evaluate(loss, *frame.matrix(loss.getLogits()), training.labels);
    frame.set(loss.getLoss(), std::move(losses));
    frame.set(loss.getGradient(), std::move(gradient));
    return true;
  }
  if (auto attention = mlir::dyn_cast<AttentionDgradOp>(op)) {
    evaluateAttentionDgrad(attention, frame, step);
    return true;
  }
  return evaluateDgrad(op, frame, step) || evaluateWgrad(op, frame, ids, step) || evaluateExpertsGradient(op, frame);
}

}  // namespace talc::reference
