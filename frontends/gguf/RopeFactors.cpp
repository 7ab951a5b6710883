// SPDX-License-Identifier: Apache-2.0
// Finds the numbers of #talc.llama3_scaling behind the factors that it gave.
//
// With wavelength l of a pair and the original context O, the factor is 1 where l < O/high, the greatest where
// l > O/low, and 1 / ((1 - s)/greatest + s) with s = (O/l - low) / (high - low) between. All published models have
// low = 1 and high = 4, so that one factor between tells O. Without one any O does that keeps short and long apart.
#include "frontends/gguf/RopeFactors.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace talc {

constexpr double low = 1, high = 4, pi = 3.14159265358979323846;

static double wavelength(size_t pair, size_t pairs, double base) {
  return 2 * pi * std::pow(base, static_cast<double>(pair) / static_cast<double>(pairs));
}

static double factorAt(double wave, double greatest, double original) {
  double s = std::clamp((original / wave - low) / (high - low), 0.0, 1.0);
  return 1 / ((1 - s) / greatest + s);
}

// The context length that the first factor between 1 and the greatest tells, or one that lies between both kinds.
static double originalContext(const std::vector<float> &factors, double greatest, double base) {
  for (size_t i = 0; i < factors.size(); ++i) {
    double factor = factors[i], wave = wavelength(i, factors.size(), base);
    if (factor > 1 && factor < greatest)
      return std::round(wave * (low + (high - low) * (1 / factor - 1 / greatest) / (1 - 1 / greatest)));
    if (factor == greatest)
      return i == 0 ? 1 : std::ceil(high * wavelength(i - 1, factors.size(), base));
  }
  return 1;
}

std::optional<nlohmann::json> llama3Scaling(const std::vector<float> &factors, double base) {
  constexpr double tolerance = 2e-7, mostContext = 1 << 30;  // two roundings to f32
  double greatest = factors.empty() ? 0 : *std::max_element(factors.begin(), factors.end());
  if (!(greatest > 1) || !std::isfinite(greatest))
    return std::nullopt;
  double original = originalContext(factors, greatest, base);
  if (!(original >= 1 && original <= mostContext))
    return std::nullopt;
  for (size_t i = 0; i < factors.size(); ++i) {
    double expected = factorAt(wavelength(i, factors.size(), base), greatest, original);
    if (!(std::fabs(factors[i] - expected) <= tolerance * expected))
      return std::nullopt;
  }
  return nlohmann::json{{"rope_type", "llama3"},
                        {"factor", greatest},
                        {"low_freq_factor", low},
                        {"high_freq_factor", high},
                        {"original_max_position_embeddings", static_cast<int64_t>(original)}};
}

}  // namespace talc
