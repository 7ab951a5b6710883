// SPDX-License-Identifier: Apache-2.0
// Limits for the work and text of tokenizing, in proportion to the text: no tokenizer can hang or fill memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace talc::tokenizer {

struct TextLimits {
  uint64_t steps;  // of pattern matching that are left
  size_t bytes;    // that the text may have once it is rewritten
  bool tooLong = false;

  static constexpr uint64_t stepsPerText = 1'000'000, stepsPerByte = 64;  // per byte and operation
  static constexpr size_t bytesPerText = size_t(1) << 20, bytesPerByte = 64;

  // For texts that have so many bytes together.
  static TextLimits of(size_t size) { return {stepsPerText, bytesPerText + bytesPerByte * size}; }
  // One more operation is going to look at `size` bytes.
  void beginOperation(size_t size) { steps += stepsPerByte * size; }
  // Whether a rewritten text of this size is acceptable.
  bool admits(size_t size) {
    tooLong = tooLong || size > bytes;
    return !tooLong;
  }
};

}  // namespace talc::tokenizer
