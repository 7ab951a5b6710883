// SPDX-License-Identifier: Apache-2.0
// Tokens whose texts say what they are for. GGUF files name one end of texts by its id, but models also end their turns
// with others, and some converters gave such tokens the type of words. Source: llama-vocab.cpp of llama.cpp.
#pragma once

#include "frontends/gguf/GgufModel.h"

#include <cstdint>
#include <vector>

namespace talc::frontend {

// Ids, all below the number of tokens.
struct TokenRoles {
  std::vector<uint32_t> ends;     // a text ends with any of these; in ascending order
  std::vector<uint32_t> control;  // control tokens, whatever their types say
  std::vector<uint32_t> shown;    // part of the text, although their types say otherwise
};

// Empty if the metadata have no list of tokens, or if that is not a list of texts.
TokenRoles rolesByText(const GgufModel &model);

}  // namespace talc::frontend
