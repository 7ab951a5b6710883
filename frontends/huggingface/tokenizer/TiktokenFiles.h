// SPDX-License-Identifier: Apache-2.0
// Vocabularies of tiktoken and of Mistral's tekken, which name bytes in base64.
#pragma once

#include "frontends/ModelDirectory.h"

namespace talc::frontend {

struct FileTranslation;

// Whether tokenizer.model has lines of tiktoken; otherwise it is a SentencePiece model.
bool hasTiktokenModel(const ModelDirectory &directory);

void translateTiktoken(FileTranslation &translation);
void translateTekken(FileTranslation &translation);

}  // namespace talc::frontend
