// SPDX-License-Identifier: Apache-2.0
// What Hugging Face's tokenizer.json says for a SentencePiece model, stage by stage.
#pragma once

#include "frontends/tokenizer/JsonFields.h"
#include "frontends/tokenizer/SentencePieceModel.h"

namespace talc::frontend {

// Whether a space is added before texts: before the first word of all, or (legacy) also behind each special token.
struct SpacePrefix {
  bool adds = true, legacy = true;
};

// The stage `model`. `vocabulary`: ["piece", score] by id; null instead of a score: never found in a text.
Json segmentationStage(const SentencePieceModel &model, uint32_t unknown, Json vocabulary, CompileErrors &errors);

// Normalizer, pre-tokenizer and decoder of Llama.
void setLlamaStages(Json &description, SpacePrefix prefix);
// The same of T5 and XLM-RoBERTa, whose texts lose spaces beside spaces.
void setMetaspaceStages(Json &description, const SentencePieceModel &model, SpacePrefix prefix);

// SentencePiece's BPE has scores of pieces; tokenizer.json has a list of merges instead (SentencePieceMerges.cpp):
// [["a", "b"], ...]: every way to put a piece together from two pieces, the highest score first.
Json listMerges(const SentencePieceModel &model, CompileErrors &errors);

}  // namespace talc::frontend
