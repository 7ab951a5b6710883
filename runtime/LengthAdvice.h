// SPDX-License-Identifier: Apache-2.0
// What to do about a text that is longer than a model takes, for messages.
#pragma once

#include <cstdint>

namespace talc {

// `most`: tokens of a sequence; `longest`: what the model could be compiled for.
inline const char *lengthAdvice(int64_t most, int64_t longest) {
  return longest > most ? "shorten it or compile with a larger --max-seq"
                        : "shorten it: the model itself has no room for more";
}

}  // namespace talc
