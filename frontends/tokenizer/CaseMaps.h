// SPDX-License-Identifier: Apache-2.0
// Character maps that normalizers are made of.
#pragma once

#include "frontends/tokenizer/SectionBuilder.h"

namespace talc::frontend {

// Mappings of one kind for a whole set.
std::vector<tokenizer::CharMapping> mapSet(const CharacterSet &set, tokenizer::MapKind kind, uint32_t value = 0);
// Lowercase, character by character.
uint32_t addLowercaseMap(SectionBuilder &section);

}  // namespace talc::frontend
