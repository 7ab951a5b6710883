// SPDX-License-Identifier: Apache-2.0
// A text on its way through normalizers and pre-tokenizers: one buffer, cut into pieces.
#pragma once

#include "runtime/tokenizer/TokenizerFormat.h"

#include <cstddef>
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

}  // namespace talc::tokenizer
