// SPDX-License-Identifier: Apache-2.0
// The four models, which turn one word into token ids.
#pragma once

#include "runtime/tokenizer/Section.h"

#include <vector>

namespace talc::tokenizer {

// Each appends the ids of one non-empty word, which is UTF-8. Returns false if a part of it is not in the vocabulary
// and the model has no unknown token; ids may then hold a part of the word.
bool encodeBpe(const Section &section, std::string_view word, std::vector<int32_t> &ids);
bool encodeWordPiece(const Section &section, std::string_view word, std::vector<int32_t> &ids);
bool encodeUnigram(const Section &section, std::string_view word, std::vector<int32_t> &ids);
bool encodeWordLevel(const Section &section, std::string_view word, std::vector<int32_t> &ids);

// The ids of the byte tokens <0xHH> of `text`, appended; false and nothing appended if one is missing.
bool encodeBytes(const Section &section, std::string_view text, std::vector<uint32_t> &ids);

}  // namespace talc::tokenizer
