// SPDX-License-Identifier: Apache-2.0
// How a model's authors want tokens to be generated: generation_config.json, over config.json, over the class defaults.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace talc {

class Diagnostics;
class ModelDirectory;

// Token ids are -1 where there is none.
struct GenerationConfig {
  int64_t begin = -1;
  std::vector<int64_t> end;
  int64_t start = -1;                        // begins the text of an encoder-decoder
  int64_t forcedBegin = -1, forcedEnd = -1;  // the token after it, and at the end of a text that is cut
  std::vector<int64_t> suppress;             // never chosen
  std::vector<int64_t> beginSuppress;        // never chosen first
  std::vector<int64_t> forbidden;            // groups that may not occur: length, tokens, length, tokens, ...
  bool sample = false;
  double temperature = 1;
  int64_t topK = 50;  // 0: off
  double topP = 1;
  double minP = 0;
  double repetitionPenalty = 1;
  int64_t newTokens = 0, maxLength = 0;     // at most: new tokens, or all; 0: not said
  int64_t minNewTokens = 0, minLength = 0;  // at least, before an end token: new tokens, or all
  int64_t beams = 1;
  int64_t noRepeatNgram = 0;  // 0: off
  double lengthPenalty = 1;
  std::string earlyStopping = "no";  // or yes, never
  bool renormalize = false;
};

// `defaults` holds the tokens of the model's class; with a start token, the model is an encoder-decoder. Token ids at
// or beyond `vocabulary` can never be generated and are dropped. Wrong values are reported; what talc cannot do is
// warned of.
GenerationConfig readGenerationConfig(const ModelDirectory &directory, const nlohmann::json &modelConfig,
                                      GenerationConfig defaults, int64_t vocabulary, Diagnostics &diagnostics);

}  // namespace talc
