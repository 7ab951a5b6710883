// SPDX-License-Identifier: Apache-2.0
// A group of modules in compressed-tensors, and how their weights are stored.
#pragma once

#include "frontends/Diagnostics.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace talc {

class ModelConfig;

struct CompressedScheme {
  enum class Kind { Packed, Integers, Fp8, Mxfp8, Mxfp4, Nvfp4 };
  enum class Strategy { Tensor, Channel, Group, Block };

  Kind kind;
  Strategy strategy;
  int64_t bits;
  int64_t groupSize = 0, blockRows = 0, blockColumns = 0;
  bool symmetric = true;
  bool roundsActivations = false;
  std::vector<std::string> targets = {};  // names of modules or classes, or "re:" and a regular expression
};

// Reads config_groups, and reports errors in it.
std::vector<CompressedScheme> readSchemes(const nlohmann::json &object, const ModelConfig &config,
                                          Diagnostics &diagnostics);

// The scheme of a module such as model.layers.0.mlp.up_proj; null if none or several match. If there is only one
// scheme, the tensors tell which modules it is for.
const CompressedScheme *findScheme(const std::vector<CompressedScheme> &schemes, std::string_view module);

}  // namespace talc
