// SPDX-License-Identifier: Apache-2.0
// A vocabulary of scored pieces, as SentencePiece models hold it, and the stages of a tokenizer.json for it.
#pragma once

#include "frontends/tokenizer/JsonFields.h"

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

// ---- What Hugging Face's tokenizer.json says for such a model, stage by stage

// Whether a space is added before texts: before the first word of all, or (legacy) also behind each special token.
struct SpacePrefix {
  bool adds = true, legacy = true;
};

// The stage `model`. `vocabulary`: ["piece", score] by id; null instead of a score: never found in a text.
Json segmentationStage(const SentencePieceModel &model, uint32_t unknown, Json vocabulary, CompileErrors &errors);

// Sets the normalizer, pre-tokenizer and decoder of Llama.
void setLlamaStages(Json &description, SpacePrefix prefix);
// Sets those of T5 and XLM-RoBERTa, whose texts lose spaces beside spaces, unless they keep them all.
void setMetaspaceStages(Json &description, const SentencePieceModel &model, SpacePrefix prefix,
                        bool keepsSpaces = false);

// SentencePiece's BPE has scores of pieces; tokenizer.json has a list of merges instead (SentencePieceMerges.cpp):
// [["a", "b"], ...]: every way to put a piece together from two pieces, the highest score first.
Json listMerges(const SentencePieceModel &model, CompileErrors &errors);

}  // namespace talc::frontend
