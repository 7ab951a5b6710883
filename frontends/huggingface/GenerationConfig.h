// SPDX-License-Identifier: Apache-2.0
// How a model's authors want tokens to be generated: generation_config.json, over config.json, over the class defaults.
#pragma once

#include "frontends/GenerationDefaults.h"

#include <nlohmann/json_fwd.hpp>

namespace talc {

class Diagnostics;
class ModelDirectory;
struct FamilyTokens;

// `modelConfig` is config.json; `tokens` are those of the model's class: with a start token, the model is an
// encoder-decoder. Token ids at or beyond `vocabulary` can never be generated and are dropped. Wrong values are
// reported; what talc cannot do is warned of.
GenerationDefaults readGenerationConfig(const ModelDirectory &directory, const nlohmann::json &modelConfig,
                                        const FamilyTokens &tokens, int64_t vocabulary, Diagnostics &diagnostics);

}  // namespace talc
