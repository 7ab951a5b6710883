// SPDX-License-Identifier: Apache-2.0
// Sums are made in double precision, in one order. Formulas: github.com/huggingface/sentence-transformers, modules.
#include "runtime/embedding/EmbeddingHead.h"

#include <algorithm>
#include <cmath>

namespace talc {

using namespace artifact;

int32_t EmbeddingHead::width() const {
  if (header.poolings[0] == static_cast<uint32_t>(Pooling::None))
    return 0;
  return static_cast<int32_t>(layers.empty() ? header.poolingCount * hiddenWidth : layers.back().shape.outputs);
}

// The sum over tokens of weight(token) * value, divided by `divisor`, for every feature.
template <typename WeightAt>
static void appendSum(const float *hidden, size_t first, size_t count, size_t width, double divisor, WeightAt weightAt,
                      std::vector<float> &result) {
  std::vector<double> sums(width);
  for (size_t token = first; token < count; ++token)
    for (size_t column = 0; column < width; ++column)
      sums[column] += weightAt(token) * static_cast<double>(hidden[token * width + column]);
  for (double sum : sums)
    result.push_back(static_cast<float>(sum / divisor));
}

static void appendMaximum(const float *hidden, size_t first, size_t count, size_t width, std::vector<float> &result) {
  size_t begin = result.size();
  result.insert(result.end(), hidden + first * width, hidden + (first + 1) * width);
  for (size_t token = first + 1; token < count; ++token)
    for (size_t column = 0; column < width; ++column)
      result[begin + column] = std::max(result[begin + column], hidden[token * width + column]);
}

// Tokens from `first` on are pooled. A weight of a mean by position is the position in the whole text, counted from 1.
static void append(Pooling pooling, const float *hidden, size_t first, size_t count, size_t width,
                   std::vector<float> &result) {
  auto pooled = static_cast<double>(count - first);
  auto one = [](size_t) { return 1.0; };
  auto position = [](size_t token) { return static_cast<double>(token + 1); };
  switch (pooling) {
  case Pooling::None:
    result.insert(result.end(), hidden, hidden + count * width);
    return;
  case Pooling::First:
    result.insert(result.end(), hidden + first * width, hidden + (first + 1) * width);
    return;
  case Pooling::Last:
    result.insert(result.end(), hidden + (count - 1) * width, hidden + count * width);
    return;
  case Pooling::Max:
    return appendMaximum(hidden, first, count, width, result);
  case Pooling::Mean:
    return appendSum(hidden, first, count, width, pooled, one, result);
  case Pooling::MeanSqrtLength:
    return appendSum(hidden, first, count, width, std::sqrt(pooled), one, result);
  case Pooling::WeightedMean:
    return appendSum(hidden, first, count, width, pooled * static_cast<double>(first + 1 + count) / 2, position,
                     result);
  case Pooling::Several:
    return;
  }
}

// A prompt that is the whole text is pooled: something must be.
static size_t firstPooled(bool excludesPrompt, size_t promptTokens, size_t count) {
  return excludesPrompt && promptTokens < count ? promptTokens : 0;
}

std::vector<float> EmbeddingHead::pool(Pooling pooling, const float *hidden, size_t count, size_t promptTokens) const {
  std::vector<float> result;
  append(pooling, hidden, firstPooled(excludesPrompt(), promptTokens, count), count, hiddenWidth, result);
  return result;
}

void EmbeddingHead::normalize(std::vector<float> &vector) {
  constexpr double smallest = 1e-12;
  double squares = 0;
  for (float value : vector)
    squares += static_cast<double>(value) * value;
  double length = std::max(std::sqrt(squares), smallest);
  for (float &value : vector)
    value = static_cast<float>(value / length);
}

static double activate(DenseActivation activation, double x) {
  switch (activation) {
  case DenseActivation::None:
    return x;
  case DenseActivation::Tanh:
    return std::tanh(x);
  case DenseActivation::Relu:
    return std::max(x, 0.0);
  case DenseActivation::Gelu:
    return x * 0.5 * (1 + std::erf(x * std::sqrt(0.5)));
  case DenseActivation::Silu:
    return x / (1 + std::exp(-x));
  case DenseActivation::Sigmoid:
    return 1 / (1 + std::exp(-x));
  }
  return x;
}

// Four chains hide the latency of the additions.
static double dot(const float *x, const float *y, size_t count) {
  double sums[4] = {};
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (size_t k = 0; k < 4; ++k)
      sums[k] += static_cast<double>(x[i + k]) * y[i + k];
  for (; i < count; ++i)
    sums[0] += static_cast<double>(x[i]) * y[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static std::vector<float> applyDense(const EmbeddingLayer &layer, const float *values, const std::vector<float> &x) {
  const float *bias = values + size_t(layer.inputs) * layer.outputs;
  const float *projection = bias + (layer.hasBias ? layer.outputs : 0);
  std::vector<float> result(layer.outputs);
  for (size_t row = 0; row < layer.outputs; ++row) {
    double sum = dot(values + row * layer.inputs, x.data(), layer.inputs) + (layer.hasBias ? bias[row] : 0);
    sum = activate(static_cast<DenseActivation>(layer.activation), sum);
    if (layer.residual == static_cast<uint32_t>(DenseResidual::Input))
      sum += x[row];
    if (layer.residual == static_cast<uint32_t>(DenseResidual::Projection))
      sum += dot(projection + row * layer.inputs, x.data(), layer.inputs);
    result[row] = static_cast<float>(sum);
  }
  return result;
}

static void applyLayerNorm(const float *scale, std::vector<float> &x) {
  constexpr double epsilon = 1e-5;  // torch.nn.LayerNorm
  const float *bias = scale + x.size();
  auto count = static_cast<double>(x.size());
  double mean = 0, squares = 0;
  for (float value : x)
    mean += value / count;
  for (float value : x)
    squares += (value - mean) * (value - mean) / count;
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = static_cast<float>((x[i] - mean) / std::sqrt(squares + epsilon) * scale[i] + bias[i]);
}

std::vector<float> EmbeddingHead::embed(const float *hidden, size_t count, size_t promptTokens) const {
  std::vector<float> x;
  size_t first = firstPooled(excludesPrompt(), promptTokens, count);
  for (uint32_t i = 0; i < header.poolingCount; ++i)
    append(static_cast<Pooling>(header.poolings[i]), hidden, first, count, hiddenWidth, x);
  for (const PlacedLayer &layer : layers)
    switch (static_cast<EmbeddingLayerKind>(layer.shape.kind)) {
    case EmbeddingLayerKind::Dense:
      x = applyDense(layer.shape, layer.values, x);
      break;
    case EmbeddingLayerKind::LayerNorm:
      applyLayerNorm(layer.values, x);
      break;
    case EmbeddingLayerKind::Normalize:
      normalize(x);
      break;
    }
  return x;
}

}  // namespace talc
