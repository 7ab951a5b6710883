// SPDX-License-Identifier: Apache-2.0
// A vocabulary of scored pieces, as SentencePiece models hold it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace talc::frontend {

enum class PieceType : uint32_t { Normal = 1, Unknown = 2, Control = 3, UserDefined = 4, Unused = 5, Byte = 6 };

struct SentencePiece {
  std::string text;
  float score = 0;
  PieceType type = PieceType::Normal;

  // Whether a text can be cut into such pieces.
  bool matchesText() const { return type == PieceType::Normal || type == PieceType::UserDefined; }
};

enum class SegmentationKind : uint32_t { Unigram = 1, Bpe = 2 };

// Names as in sentencepiece_model.proto.
struct SentencePieceModel {
  std::vector<SentencePiece> pieces;  // the index is the id; no two have the same text
  uint32_t unknown = 0;               // the one piece of that type
  SegmentationKind kind = SegmentationKind::Unigram;
  bool byteFallback = false;
  bool addDummyPrefix = true;
  bool removeExtraWhitespaces = true;
  std::string charsmap;  // rules of normalization; empty: none
};

}  // namespace talc::frontend
