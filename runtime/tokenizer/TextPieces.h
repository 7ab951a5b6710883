// SPDX-License-Identifier: Apache-2.0
// A text on its way through normalizers and pre-tokenizers: one buffer, cut into pieces, and limits for what is done to
// it.
#pragma once

#include "runtime/tokenizer/TokenizerFormat.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace talc::tokenizer {

// Bytes [begin, end) of the buffer, or an added token that was found in the text.
struct Piece {
  size_t begin, end;
  uint32_t id;  // none: text that is still to be tokenized
  bool first;   // begins where the text began
};

struct TextPieces {
  std::string buffer;
  std::vector<Piece> list;

  std::string_view text(const Piece &piece) const {
    return std::string_view(buffer).substr(piece.begin, piece.end - piece.begin);
  }
};

// Limits for the work and text of tokenizing, in proportion to the text: no tokenizer can hang or fill memory.
struct TextLimits {
  uint64_t steps;  // of pattern matching that are left
  size_t bytes;    // that the text may have once it is rewritten
  bool tooLong = false;

  static constexpr uint64_t stepsPerText = 1'000'000, stepsPerByte = 64;  // per byte and operation
  static constexpr size_t bytesPerText = size_t(1) << 20, bytesPerByte = 64;

  // Returns the limits for texts of `size` bytes in all.
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
