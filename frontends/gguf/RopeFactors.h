// SPDX-License-Identifier: Apache-2.0
// GGUF stores Llama 3's scaling of rotary frequencies as what it makes of them.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <optional>
#include <vector>

namespace talc {

// A number for every pair of features, by which its frequency is divided.
constexpr const char *ropeFactorsTensor = "rope_freqs.weight";
// The tensors with LongRoPE's factors, for long and for short texts.
constexpr const char *longFactorsTensors[] = {"rope_factors_long.weight", "rope_factors_short.weight"};

// The keys of config.json (rope_type llama3) that give these factors, each to the last bits of f32. Nothing if none do.
std::optional<nlohmann::json> llama3Scaling(const std::vector<float> &factors, double base);

}  // namespace talc
