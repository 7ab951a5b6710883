// SPDX-License-Identifier: Apache-2.0
// The keys of the metadata that belong to an architecture, and the keys of config.json that they answer.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace talc {

struct GgufArchitecture;

// A key behind "<architecture>.".
struct GgufKey {
  // Read: by code of its own. Nothing: it changes nothing if it has its neutral value, or any value if that is null.
  enum class Use { Required, Optional, Read, Nothing };

  std::string_view key;
  Use use;
  std::vector<std::string> answers = {};
  nlohmann::json neutral = nullptr;
  std::vector<std::string_view> only = {};  // architectures; empty: all

  bool isFor(std::string_view name, const GgufArchitecture &architecture) const;
};

// The files that have it have latent attention.
constexpr const char *latentKey = "attention.kv_lora_rank";

// If several match a key, the first one counts.
const std::vector<GgufKey> &ggufKeys();

}  // namespace talc
