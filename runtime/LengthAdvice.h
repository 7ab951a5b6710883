// SPDX-License-Identifier: Apache-2.0
// Advice for messages about a text that is longer than a model takes.
#pragma once

#include <cstdint>

namespace talc {

// `maxTokens`: tokens of a sequence; `longest`: the most tokens that the model could be compiled for.
inline const char *lengthAdvice(int64_t maxTokens, int64_t longest) {
  return longest > maxTokens ? "shorten it or compile with a larger --max-seq"
                             : "shorten it: the model itself has no room for more";
}

}  // namespace talc
