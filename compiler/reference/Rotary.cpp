// SPDX-License-Identifier: Apache-2.0
// Angles of rotary embeddings, with the scalings for longer contexts.
#include "compiler/reference/Positions.h"

#include <algorithm>
#include <cmath>

namespace talc::reference {

static double scaled(double frequency, Llama3ScalingAttr scaling) {
  double factor = scaling.getFactor().convertToDouble();
  double low = scaling.getLow().convertToDouble(), high = scaling.getHigh().convertToDouble();
  double original = static_cast<double>(scaling.getOriginal());
  double wavelength = 2 * M_PI / frequency;
  if (wavelength > original / low)
    return frequency / factor;
  if (wavelength < original / high)
    return frequency;
  double s = (original / wavelength - low) / (high - low);
  return ((1 - s) / factor + s) * frequency;
}

// The index of the pair, as a real number, that rotates `turns` times over the original context.
static double pairWithTurns(double turns, int64_t rotary, double base, YarnScalingAttr scaling) {
  return rotary * std::log(scaling.getOriginal() / (2 * M_PI * turns)) / (2 * std::log(base));
}

// The share of pair i that is interpolated.
static double ramp(int64_t i, int64_t rotary, double base, YarnScalingAttr scaling) {
  double low = pairWithTurns(scaling.getFast().convertToDouble(), rotary, base, scaling);
  double high = pairWithTurns(scaling.getSlow().convertToDouble(), rotary, base, scaling);
  if (scaling.getTruncate()) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, rotary - 1.0);
  if (low == high)
    high += 0.001;
  return std::clamp((i - low) / (high - low), 0.0, 1.0);
}

static double scaledBase(int64_t rotary, double base, mlir::Attribute scaling, int64_t position) {
  auto dynamic = mlir::dyn_cast_or_null<DynamicScalingAttr>(scaling);
  if (!dynamic || position < dynamic.getOriginal())
    return base;
  double factor = dynamic.getFactor().convertToDouble(), share = (position + 1.0) / dynamic.getOriginal();
  return base * std::pow(factor * share - (factor - 1), rotary / (rotary - 2.0));
}

static double scaledFrequency(int64_t i, int64_t rotary, double base, mlir::Attribute scaling) {
  double frequency = std::pow(base, -2.0 * i / rotary);
  if (auto linear = mlir::dyn_cast_or_null<LinearScalingAttr>(scaling))
    return frequency / linear.getFactor().convertToDouble();
  if (auto llama3 = mlir::dyn_cast_or_null<Llama3ScalingAttr>(scaling))
    return scaled(frequency, llama3);
  if (auto listed = mlir::dyn_cast_or_null<ListedScalingAttr>(scaling))
    return frequency / listed.getFactors().asArrayRef()[i];
  if (auto yarn = mlir::dyn_cast_or_null<YarnScalingAttr>(scaling)) {
    double share = ramp(i, rotary, base, yarn);
    return share * frequency / yarn.getFactor().convertToDouble() + (1 - share) * frequency;
  }
  return frequency;
}

static double scalingAmplitude(mlir::Attribute scaling) {
  if (auto listed = mlir::dyn_cast_or_null<ListedScalingAttr>(scaling))
    return listed.getAmplitude().convertToDouble();
  if (auto yarn = mlir::dyn_cast_or_null<YarnScalingAttr>(scaling))
    return yarn.getAmplitude().convertToDouble();
  return 1;
}

std::vector<double> rotaryRow(int64_t rotary, double base, mlir::Attribute scaling, int64_t position, bool amplified) {
  std::vector<double> result(rotary);
  double used = scaledBase(rotary, base, scaling, position);
  for (int64_t i = 0; i < rotary / 2; ++i) {
    double angle = position * scaledFrequency(i, rotary, used, scaling);
    double amplitude = amplified ? scalingAmplitude(scaling) : 1;
    result[i] = amplitude * std::cos(angle);
    result[rotary / 2 + i] = amplitude * std::sin(angle);
  }
  return result;
}

}  // namespace talc::reference
