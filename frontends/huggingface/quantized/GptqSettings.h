// SPDX-License-Identifier: Apache-2.0
// The parameters of GPTQ, for all modules and for some.
#pragma once

#include "frontends/Diagnostics.h"
#include "frontends/huggingface/quantized/ModulePattern.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace talc {

class ModelConfig;

struct GptqSettings {
  int64_t bits = 4, groupSize = -1;  // -1: whole rows
  bool ordersByActivation = false, isSymmetric = true;
};

// A row of `dynamic`: modules with settings of their own, or modules that are not quantized.
struct GptqOverride {
  ModulePattern pattern;
  bool isQuantized;
  GptqSettings settings;
};

struct GptqConfig {
  GptqSettings all;
  std::vector<GptqOverride> dynamic;
  bool isFirstFormat = true;  // gptq, whose zero points are stored one too low; else gptq_v2
};

// Reports errors.
GptqConfig readGptqConfig(const nlohmann::json &object, const ModelConfig &config, Diagnostics &diagnostics);

}  // namespace talc
