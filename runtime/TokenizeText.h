// SPDX-License-Identifier: Apache-2.0
// Tokenizes text that callers pass in.
#pragma once

#include "runtime/artifact/Model.h"

#include <string_view>
#include <vector>

namespace talc {

// Fails when the model has no tokenizer.
Status checkTokenizer(const Model &model);

// Stores the token of a language. Fails when the model does not know the language.
Status findLanguage(const Model &model, const char *name, int32_t &token);

// Returns the ids and token types of a text, or of a pair when `second` is not null. Fails when the model has no
// tokenizer, when a text is not valid UTF-8, when the tokenizer has no tokens for it, and when it does not know the
// `language` (null: its own). Texts are cut to `maxTokens` (0: they are not); stores how many ids were dropped.
Status tokenizeText(const Model &model, const char *language, std::string_view first, const std::string_view *second,
                    size_t maxTokens, std::vector<int32_t> &ids, std::vector<int32_t> &types, size_t &dropped);

}  // namespace talc
