// SPDX-License-Identifier: Apache-2.0
// A SentencePiece model.
#include "frontends/huggingface/tokenizer/SentencePieceReader.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string message;
  talc::frontend::CompileErrors errors("spiece.model", message);
  talc::frontend::SentencePieceModel model;
  talc::frontend::readSentencePieceModel({reinterpret_cast<const char *>(bytes), size}, model, errors);
  return 0;
}
