// SPDX-License-Identifier: Apache-2.0
// Inputs for formats that random bytes hardly ever have: something correct, changed at some places.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace talc::fuzz {

// A fuzzer's input is triples of a place (two bytes) and the value of the byte there. Aligned to 8 bytes.
inline std::vector<uint64_t> patched(const std::vector<uint8_t> &correct, const uint8_t *input, size_t inputSize) {
  std::vector<uint64_t> words(correct.size() / 8 + 1);
  memcpy(words.data(), correct.data(), correct.size());
  auto *bytes = reinterpret_cast<uint8_t *>(words.data());
  for (size_t at = 0; at + 3 <= inputSize; at += 3)
    if (size_t place = input[at] + 256 * input[at + 1]; place < correct.size())
      bytes[place] = input[at + 2];
  return words;
}

}  // namespace talc::fuzz
