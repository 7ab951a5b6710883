// SPDX-License-Identifier: Apache-2.0
// A SentencePiece model file (tokenizer.model, spiece.model, *.spm): a protocol buffer of pieces and settings.
#pragma once

#include "frontends/tokenizer/CompileContext.h"
#include "frontends/tokenizer/sentencepiece/SentencePieceModel.h"

#include <string_view>

namespace talc::frontend {

// The file is untrusted. False and an error if it is damaged, or asks for what talc does not have.
bool readSentencePieceModel(std::string_view file, SentencePieceModel &model, CompileErrors &errors);

}  // namespace talc::frontend
