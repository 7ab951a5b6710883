// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json as transformers loads it: the files beside it add tokens to it and change its stages.
#pragma once

#include "frontends/huggingface/tokenizer/TokenizerSettings.h"

namespace talc::frontend {

// Reads tokenizer.json and applies tokenizer_config.json, special_tokens_map.json, added_tokens.json and
// sentence_bert_config.json. Warns of settings that have no effect.
Json readTokenizerJson(const ModelDirectory &directory, CompileErrors &errors);

// Adds the tokens of the settings that the description lacks, and gives those that it has the flags of the settings.
// (JsonTokens.cpp)
void applyTokens(Json &description, const TokenizerSettings &settings, CompileErrors &errors);

// The id of a token of the description's vocabulary or of its added tokens.
std::optional<uint32_t> findTokenId(const Json &description, const std::string &content);

}  // namespace talc::frontend
