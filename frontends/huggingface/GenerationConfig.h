// SPDX-License-Identifier: Apache-2.0
// How a model's authors want tokens to be generated: generation_config.json, over config.json, over the class defaults.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <vector>

namespace talc {

class Diagnostics;
class ModelDirectory;

struct GenerationConfig {
  int64_t begin = -1;        // token id; -1: none
  std::vector<int64_t> end;  // token ids
  bool sample = false;
  double temperature = 1;
  int64_t topK = 50;  // 0: off
  double topP = 1;
  double minP = 0;
  double repetitionPenalty = 1;
};

// `defaults` holds the begin and end tokens of the model's class. Token ids at or beyond `vocabulary` can never be
// generated and are dropped. Wrong values are reported.
GenerationConfig readGenerationConfig(const ModelDirectory &directory, const nlohmann::json &modelConfig,
                                      GenerationConfig defaults, int64_t vocabulary, Diagnostics &diagnostics);

}  // namespace talc
