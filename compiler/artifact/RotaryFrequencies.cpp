// SPDX-License-Identifier: Apache-2.0
// Frequencies of rotary position embeddings and the two ways in which long-context models change them.
#include "compiler/artifact/RotaryFrequencies.h"

#include "dialects/talc/TalcDialect.h"

#include <cmath>

namespace talc {

static double scaled(double frequency, Llama3ScalingAttr scaling) {
  constexpr double pi = 3.14159265358979323846;
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

std::vector<double> rotaryFrequencies(double base, mlir::Attribute scaling, int64_t rotary) {
  std::vector<double> result(rotary / 2);
  for (size_t i = 0; i < result.size(); ++i) {
    double frequency = std::pow(base, -2.0 * static_cast<double>(i) / static_cast<double>(rotary));
    if (auto linear = mlir::dyn_cast_or_null<LinearScalingAttr>(scaling))
      frequency /= linear.getFactor().convertToDouble();
    if (auto llama3 = mlir::dyn_cast_or_null<Llama3ScalingAttr>(scaling))
      frequency = scaled(frequency, llama3);
    result[i] = frequency;
  }
  return result;
}

}  // namespace talc
