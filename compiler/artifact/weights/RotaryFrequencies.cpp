// SPDX-License-Identifier: Apache-2.0
// Frequencies of rotary position embeddings and the ways in which long-context models change them.
#include "compiler/artifact/weights/RotaryFrequencies.h"

#include "dialects/talc/TalcDialect.h"

#include "llvm/ADT/TypeSwitch.h"

#include <algorithm>
#include <cmath>

namespace talc {

constexpr double pi = 3.14159265358979323846;

static double scaled(double frequency, Llama3ScalingAttr scaling) {
  double factor = scaling.getFactor().convertToDouble(), low = scaling.getLow().convertToDouble();
  double high = scaling.getHigh().convertToDouble(), original = static_cast<double>(scaling.getOriginal());
  double wavelength = 2 * pi / frequency;
  if (wavelength > original / low)
    return frequency / factor;
  if (wavelength < original / high)
    return frequency;
  double share = (original / wavelength - low) / (high - low);
  return ((1 - share) / factor + share) * frequency;
}

static void scaleAll(std::vector<double> &frequencies, LinearScalingAttr scaling) {
  for (double &frequency : frequencies)
    frequency /= scaling.getFactor().convertToDouble();
}

static void scaleAll(std::vector<double> &frequencies, Llama3ScalingAttr scaling) {
  for (double &frequency : frequencies)
    frequency = scaled(frequency, scaling);
}

static void scaleAll(std::vector<double> &frequencies, ListedScalingAttr scaling) {
  for (size_t i = 0; i < frequencies.size(); ++i)
    frequencies[i] /= scaling.getFactors()[i];
}

// Pairs before `low` turn often and keep their frequency, those behind `high` are interpolated.
static void scaleAll(std::vector<double> &frequencies, YarnScalingAttr scaling, double base) {
  const double rotary = 2.0 * static_cast<double>(frequencies.size()), factor = scaling.getFactor().convertToDouble();
  auto pairOf = [&](const llvm::APFloat &turns) {
    double wavelength = static_cast<double>(scaling.getOriginal()) / turns.convertToDouble();
    return rotary / 2 * std::log(wavelength / (2 * pi)) / std::log(base);
  };
  double low = pairOf(scaling.getFast()), high = pairOf(scaling.getSlow());
  low = std::max(scaling.getTruncate() ? std::floor(low) : low, 0.0);
  high = std::min(scaling.getTruncate() ? std::ceil(high) : high, rotary - 1);
  high += low == high ? 0.001 : 0;
  for (size_t i = 0; i < frequencies.size(); ++i) {
    double extrapolated = 1 - std::clamp((static_cast<double>(i) - low) / (high - low), 0.0, 1.0);
    frequencies[i] *= extrapolated + (1 - extrapolated) / factor;
  }
}

std::vector<double> RotaryFrequencies::ofBase(double base) const {
  std::vector<double> result(rotary / 2);
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(rotary));
  if (scaling)
    llvm::TypeSwitch<mlir::Attribute>(scaling)
        .Case<LinearScalingAttr, Llama3ScalingAttr, ListedScalingAttr>([&](auto scaling) { scaleAll(result, scaling); })
        .Case([&](YarnScalingAttr scaling) { scaleAll(result, scaling, base); });
  return result;
}

RotaryFrequencies::RotaryFrequencies(double base, mlir::Attribute scaling, int64_t rotary)
    : base(base), scaling(scaling), rotary(rotary), common(ofBase(base)) {}

std::vector<double> RotaryFrequencies::at(int64_t position) const {
  auto dynamic = mlir::dyn_cast_if_present<DynamicScalingAttr>(scaling);
  if (!dynamic || position < dynamic.getOriginal())
    return common;
  double factor = dynamic.getFactor().convertToDouble(), width = static_cast<double>(rotary);
  double longer = static_cast<double>(position + 1) / static_cast<double>(dynamic.getOriginal());
  return ofBase(base * std::pow(factor * longer - factor + 1, width / (width - 2)));
}

double RotaryFrequencies::amplitude() const {
  if (auto yarn = mlir::dyn_cast_if_present<YarnScalingAttr>(scaling))
    return yarn.getAmplitude().convertToDouble();
  if (auto listed = mlir::dyn_cast_if_present<ListedScalingAttr>(scaling))
    return listed.getAmplitude().convertToDouble();
  return 1;
}

}  // namespace talc
