// SPDX-License-Identifier: Apache-2.0
// SentencePiece's BPE has scores of pieces; tokenizer.json has a list of merges instead.
#pragma once

#include "frontends/tokenizer/JsonFields.h"
#include "frontends/tokenizer/SentencePieceModel.h"

namespace talc::frontend {

// [["a", "b"], ...]: every way to put a piece together from two pieces, the highest score first.
Json listMerges(const SentencePieceModel &model, CompileErrors &errors);

}  // namespace talc::frontend
