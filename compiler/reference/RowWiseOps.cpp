// SPDX-License-Identifier: Apache-2.0
// linear, gated_linear, norm, activation, softmax, log_softmax, add, mul, scale, clamp, route, experts.
#include "compiler/reference/Evaluation.h"

#include "compiler/reference/StoredValues.h"
#include "dialects/Invariant.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

namespace talc::reference {

static double dot(const Matrix &x, int64_t t, const std::vector<double> &weights) {
  double sum = 0;
  for (int64_t k = 0; k < x.columns; ++k)
    sum += x.at(t, k) * weights[k];
  return sum;
}

double activate(ActivationKind kind, double x) {
  switch (kind) {
  case ActivationKind::relu:
    return x > 0 ? x : 0;
  case ActivationKind::gelu:
    return x / 2 * (1 + std::erf(x / std::sqrt(2.0)));
  case ActivationKind::gelu_tanh:
    return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  case ActivationKind::silu:
    return x / (1 + std::exp(-x));
  case ActivationKind::tanh:
    return std::tanh(x);
  case ActivationKind::sigmoid:
    return 1 / (1 + std::exp(-x));
  case ActivationKind::quick_gelu:
    return x / (1 + std::exp(-1.702 * x));
  case ActivationKind::relu_squared:
    return x > 0 ? x * x : 0;
  case ActivationKind::softplus:
    return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
  }
  endByDefect("every activation function is listed");
}

// Rounds activations to the 16-bit type of a weight, as tensor cores multiply them 16 at a time; others are unchanged.
static Matrix roundedRows(Matrix x, mlir::Value weight, ActivationPrecision precision) {
  auto type = mlir::cast<mlir::ShapedType>(weight.getType());
  auto element = mlir::dyn_cast<mlir::FloatType>(type.getElementType());
  if (precision == ActivationPrecision::full || !element || element.getWidth() != 16 || type.getDimSize(1) % 16 != 0)
    return x;
  for (double &value : x.values) {
    llvm::APFloat number(static_cast<float>(value));
    bool loses = false;
    number.convert(element.getFloatSemantics(), llvm::APFloat::rmNearestTiesToEven, &loses);
    number.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &loses);
    value = number.convertToDouble();
  }
  return x;
}

static int64_t resultColumns(mlir::Operation *op) {
  return mlir::cast<mlir::RankedTensorType>(op->getResult(0).getType()).getDimSize(1);
}

static Matrix evaluate(LinearOp op, const Matrix &x, const Weight &weight, const Weight *bias) {
  Matrix result(x.rows, resultColumns(op));
  int64_t groups = op.getGroups(), outputs = result.columns / groups, features = x.columns / groups;
  for (int64_t n = 0; n < result.columns; ++n) {
    // Packed, a group may have more rows than outputs.
    int64_t group = n / outputs;
    std::vector<double> weights = row(weight, group * (rowCount(weight) / groups) + n % outputs);
    for (int64_t t = 0; t < x.rows; ++t) {
      double sum = bias ? bias->values[n] : 0.0;
      for (size_t k = 0; k < weights.size(); ++k)
        sum += x.at(t, group * features + static_cast<int64_t>(k)) * weights[k];
      result.at(t, n) = sum;
    }
  }
  return result;
}

// `up` is null if `weight` is packed.
static Matrix evaluate(GatedLinearOp op, const Matrix &x, const Weight &weight, const Weight *up) {
  Matrix result(x.rows, resultColumns(op));
  int64_t group = up ? 0 : weight.shape[2] / 2;
  for (int64_t n = 0; n < result.columns; ++n) {
    // Panel n/group holds `group` rows of the gate, then as many of up.
    int64_t packed = up ? 0 : n / group * 2 * group + n % group;
    std::vector<double> gate = up ? row(weight, n) : row(weight, packed);
    std::vector<double> linear = up ? row(*up, n) : row(weight, packed + group);
    for (int64_t t = 0; t < x.rows; ++t)
      result.at(t, n) = activate(op.getKind(), dot(x, t, gate)) * dot(x, t, linear);
  }
  return result;
}

// Normalizes `width` features of token t from `first` on.
static void normalize(NormOp op, const Matrix &x, int64_t t, int64_t first, int64_t width, Matrix &result) {
  double mean = 0, squares = 0;
  if (op.getKind() == NormKind::layer)
    for (int64_t i = 0; i < width; ++i)
      mean += x.at(t, first + i) / width;
  for (int64_t i = 0; i < width; ++i)
    squares += (x.at(t, first + i) - mean) * (x.at(t, first + i) - mean) / width;
  for (int64_t i = 0; i < width; ++i)
    result.at(t, first + i) = (x.at(t, first + i) - mean) / std::sqrt(squares + op.getEpsilon().convertToDouble());
}

static Matrix evaluate(NormOp op, const Matrix &x, const Weight &scale, const Weight *bias) {
  Matrix result(x.rows, x.columns);
  int64_t width = x.columns / static_cast<int64_t>(op.getGroups());
  for (int64_t t = 0; t < x.rows; ++t) {
    for (int64_t first = 0; first < x.columns; first += width)
      normalize(op, x, t, first, width, result);
    // One vector for every group, or one for all.
    auto of = [](const Weight &vector, int64_t i) { return vector.values[i % vector.values.size()]; };
    for (int64_t i = 0; i < x.columns; ++i)
      result.at(t, i) = result.at(t, i) * of(scale, i) + (bias ? of(*bias, i) : 0.0);
  }
  return result;
}

// The indices of the `count` largest numbers; of equal ones the first.
static std::vector<int64_t> largest(const std::vector<double> &numbers, int64_t count) {
  std::vector<int64_t> places(numbers.size());
  for (size_t i = 0; i < places.size(); ++i)
    places[i] = static_cast<int64_t>(i);
  std::partial_sort(places.begin(), places.begin() + count, places.end(),
                    [&](int64_t a, int64_t b) { return numbers[a] != numbers[b] ? numbers[a] > numbers[b] : a < b; });
  places.resize(count);
  return places;
}

// The scores by which experts are compared: minus infinity outside of the selected groups.
static std::vector<double> compared(RouteOp op, const Matrix &x, int64_t t, const Weight *bias) {
  std::vector<double> all(x.columns), result(x.columns, -HUGE_VAL), sums;
  for (int64_t e = 0; e < x.columns; ++e)
    all[e] = x.at(t, e) + (bias ? bias->values[e] : 0.0);
  int64_t width = x.columns / static_cast<int64_t>(op.getGroups());
  for (auto group = all.begin(); group != all.end(); group += width) {
    std::vector<double> members(group, group + width);
    sums.push_back(0);
    for (int64_t place : largest(members, static_cast<int64_t>(op.getGroupBest())))
      sums.back() += members[place];
  }
  for (int64_t group : largest(sums, static_cast<int64_t>(op.getTopkGroups())))
    std::copy_n(all.begin() + group * width, width, result.begin() + group * width);
  return result;
}

static Matrix evaluate(RouteOp op, const Matrix &x, const Weight *bias) {
  Matrix result(x.rows, x.columns);
  for (int64_t t = 0; t < x.rows; ++t) {
    double total = 0;
    for (int64_t e : largest(compared(op, x, t, bias), static_cast<int64_t>(op.getCount())))
      total += result.at(t, e) = x.at(t, e);
    for (int64_t e = 0; e < x.columns && op.getNormalized() && total > 0; ++e)
      result.at(t, e) /= total;
  }
  return result;
}

// All arithmetic is f32, as the op is defined, so that values halfway between two integers round alike.
static Matrix roundedTo(mlir::Type element, const Matrix &x) {
  Weight numbers;
  numbers.values.assign(x.values.begin(), x.values.end());
  roundValues(numbers, element);
  Matrix result(x.rows, x.columns);
  llvm::copy(numbers.values, result.values.begin());
  return result;
}

static Matrix quantizedTo(mlir::Type element, const Matrix &x) {
  if (mlir::isa<mlir::FloatType>(element))
    return roundedTo(element, x);
  const int64_t block = getStorageFormat(element)->jointValues();
  Matrix result(x.rows, x.columns);
  for (int64_t t = 0; t < x.rows; ++t)
    for (int64_t first = 0; first < x.columns; first += block) {
      float maxMagnitude = 0;
      for (int64_t i = first; i < first + block; ++i)
        maxMagnitude = std::max(maxMagnitude, std::fabs(static_cast<float>(x.at(t, i))));
      if (maxMagnitude < 0x1p-120f)
        continue;
      float scale = maxMagnitude / 127, inverse = 127 / maxMagnitude;
      for (int64_t i = first; i < first + block; ++i)
        result.at(t, i) = std::nearbyint(static_cast<float>(x.at(t, i)) * inverse) * static_cast<double>(scale);
    }
  return result;
}

// Adds the output of one expert for token t to the result. `up` is null if `gate` is packed.
static void addExpert(ExpertsOp op, int64_t expert, const Matrix &x, int64_t t, double route, const Weight &gate,
                      const Weight *up, const Weight &down, llvm::ArrayRef<const Weight *> biases, Matrix &result) {
  int64_t experts = mlir::cast<mlir::RankedTensorType>(op.getRoutes().getType()).getDimSize(1);
  int64_t group = up ? 0 : gate.shape[2] / 2, rows = rowCount(gate) / experts;
  double clamp = op.getClamp().convertToDouble();
  auto bias = [&](size_t of, int64_t place) { return biases.empty() ? 0.0 : biases[of]->values[place]; };
  Matrix hidden(1, down.shape[1]);
  for (int64_t n = 0; n < hidden.columns; ++n) {
    int64_t first = expert * rows, packed = up ? n : n / group * 2 * group + n % group;
    int64_t place = expert * hidden.columns + n;
    double linear = dot(x, t, up ? row(*up, first + n) : row(gate, first + packed + group)) + bias(1, place);
    double gated = dot(x, t, row(gate, first + packed)) + bias(0, place);
    if (clamp > 0) {
      linear = std::min(std::max(linear, -clamp), clamp) + 1;
      gated = std::min(gated, clamp);
    }
    hidden.at(0, n) = activate(op.getKind(), gated) * linear;
  }
  if (std::optional<mlir::Type> rounding = op.getRounding())
    hidden = quantizedTo(*rounding, hidden);
  int64_t outputs = rowCount(down) / experts;
  for (int64_t n = 0; n < result.columns; ++n)
    result.at(t, n) += route * (dot(hidden, 0, row(down, expert * outputs + n)) + bias(2, expert * result.columns + n));
}

static Matrix evaluate(ExpertsOp op, const Matrix &x, const Matrix &routes, const Weight &gate, const Weight *up,
                       const Weight &down, llvm::ArrayRef<const Weight *> biases) {
  Matrix result(x.rows, resultColumns(op));
  for (int64_t t = 0; t < x.rows; ++t)
    for (int64_t expert = 0; expert < routes.columns; ++expert)
      if (double route = routes.at(t, expert); route != 0)
        addExpert(op, expert, x, t, route, gate, up, down, biases, result);
  return result;
}

static Matrix evaluate(ActivationOp op, const Matrix &x) {
  Matrix result = x;
  for (double &value : result.values)
    value = activate(op.getKind(), value);
  return result;
}

static Matrix evaluate(SoftmaxOp, const Matrix &x) {
  Matrix result(x.rows, x.columns);
  for (int64_t t = 0; t < x.rows; ++t) {
    double highest = -HUGE_VAL, sum = 0;
    for (int64_t i = 0; i < x.columns; ++i)
      highest = std::max(highest, static_cast<double>(x.at(t, i)));
    for (int64_t i = 0; i < x.columns; ++i)
      sum += std::exp(x.at(t, i) - highest);
    for (int64_t i = 0; i < x.columns; ++i)
      result.at(t, i) = std::exp(x.at(t, i) - highest) / sum;
  }
  return result;
}

static Matrix evaluate(LogSoftmaxOp op, const Matrix &x) {
  Matrix result(x.rows, resultColumns(op));
  int64_t words = result.columns, clusters = x.columns - words, unclustered = clusters > 0 ? op.getTails()[0] : words;
  for (int64_t t = 0; t < x.rows; ++t) {
    auto logSum = [&](const std::vector<int64_t> &columns) {
      double highest = -HUGE_VAL, sum = 0;
      for (int64_t c : columns)
        highest = std::max(highest, static_cast<double>(x.at(t, c)));
      for (int64_t c : columns)
        sum += std::exp(x.at(t, c) - highest);
      return highest + std::log(sum);
    };
    auto range = [](int64_t from, int64_t to) {
      std::vector<int64_t> columns;
      for (; from < to; ++from)
        columns.push_back(from);
      return columns;
    };
    std::vector<int64_t> head = range(0, unclustered), all = range(words, x.columns);
    all.insert(all.end(), head.begin(), head.end());
    double total = logSum(all);
    for (int64_t c : head)
      result.at(t, c) = x.at(t, c) - total;
    for (int64_t cluster = 0; cluster < clusters; ++cluster) {
      auto tail = range(op.getTails()[cluster], cluster + 1 < clusters ? op.getTails()[cluster + 1] : words);
      double within = logSum(tail);
      for (int64_t c : tail)
        result.at(t, c) = x.at(t, words + cluster) - total + x.at(t, c) - within;
    }
  }
  return result;
}

static Matrix evaluate(JoinOp op, const Matrix &x, const Matrix &y) {
  Matrix result(x.rows, x.columns + y.columns);
  int64_t heads = op.getHeads(), first = x.columns / heads, second = y.columns / heads;
  for (int64_t t = 0; t < x.rows; ++t)
    for (int64_t h = 0; h < heads; ++h) {
      for (int64_t i = 0; i < first; ++i)
        result.at(t, h * (first + second) + i) = x.at(t, h * first + i);
      for (int64_t i = 0; i < second; ++i)
        result.at(t, h * (first + second) + first + i) = y.at(t, h * second + i);
    }
  return result;
}

static Matrix evaluate(ScaleOp op, const Matrix &x) {
  Matrix result = x;
  for (double &value : result.values)
    value *= op.getFactor().convertToDouble();
  return result;
}

static Matrix evaluate(ClampOp op, const Matrix &x) {
  Matrix result = x;
  double bound = op.getBound().convertToDouble();
  for (double &value : result.values)
    value = std::min(std::max(value, -bound), bound);
  return result;
}

static Matrix evaluate(AddOp, const Matrix &lhs, const Matrix &rhs) {
  Matrix result = lhs;
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] += rhs.values[i];
  return result;
}

static Matrix evaluate(MulOp, const Matrix &lhs, const Matrix &rhs) {
  Matrix result = lhs;
  for (size_t i = 0; i < result.values.size(); ++i)
    result.values[i] *= rhs.values[i];
  return result;
}

std::optional<Matrix> evaluateRowWise(mlir::Operation *op, const Frame &frame, ActivationPrecision precision) {
  auto matrix = [&](mlir::Value value) { return frame.matrix(value); };
  auto weight = [&](mlir::Value value) { return frame.weight(value); };
  return llvm::TypeSwitch<mlir::Operation *, std::optional<Matrix>>(op)
      .Case([&](LinearOp op) {
        return evaluate(op, roundedRows(*matrix(op.getX()), op.getWeight(), precision), *weight(op.getWeight()),
                        weight(op.getBias()).get());
      })
      .Case([&](GatedLinearOp op) {
        return evaluate(op, roundedRows(*matrix(op.getX()), op.getWeight(), precision), *weight(op.getWeight()),
                        weight(op.getUp()).get());
      })
      .Case([&](NormOp op) {
        return evaluate(op, *matrix(op.getX()), *weight(op.getScale()), weight(op.getBias()).get());
      })
      .Case([&](ExpertsOp op) {
        std::vector<WeightPtr> biases;
        std::vector<const Weight *> biasWeights;
        for (mlir::Value bias : op.getBiases())
          biasWeights.push_back(biases.emplace_back(weight(bias)).get());
        return evaluate(op, *matrix(op.getX()), *matrix(op.getRoutes()), *weight(op.getGate()),
                        weight(op.getUp()).get(), *weight(op.getDown()), biasWeights);
      })
      .Case([&](JoinOp op) { return evaluate(op, *matrix(op.getX()), *matrix(op.getY())); })
      .Case([&](RouteOp op) { return evaluate(op, *matrix(op.getX()), weight(op.getBias()).get()); })
      .Case([&](QuantizeOp op) { return quantizedTo(op.getType().getElementType(), *matrix(op.getX())); })
      .Case<ActivationOp, SoftmaxOp, LogSoftmaxOp, ScaleOp, ClampOp>(
          [&](auto op) { return evaluate(op, *matrix(op.getX())); })
      .Case<AddOp, MulOp>([&](auto op) { return evaluate(op, *matrix(op.getLhs()), *matrix(op.getRhs())); })
      .Default([](mlir::Operation *) { return std::nullopt; });
}

}  // namespace talc::reference
