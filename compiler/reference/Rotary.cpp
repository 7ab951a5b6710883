// SPDX-License-Identifier: Apache-2.0
// Frequencies of rotary embeddings, with the scalings for longer contexts.
#include "compiler/reference/Rotary.h"

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

std::vector<double> rotaryFrequencies(int64_t rotary, double base, mlir::Attribute scaling) {
  std::vector<double> result;
  for (int64_t i = 0; i < rotary / 2; ++i) {
    double frequency = std::pow(base, -2.0 * i / rotary);
    if (auto linear = mlir::dyn_cast_or_null<LinearScalingAttr>(scaling))
      frequency /= linear.getFactor().convertToDouble();
    if (auto llama3 = mlir::dyn_cast_or_null<Llama3ScalingAttr>(scaling))
      frequency = scaled(frequency, llama3);
    result.push_back(frequency);
  }
  return result;
}

}  // namespace talc::reference
