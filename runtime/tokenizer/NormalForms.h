// SPDX-License-Identifier: Apache-2.0
// Unicode normal forms (UAX #15) with the tables of a section.
#pragma once

#include "runtime/tokenizer/Section.h"

namespace talc::tokenizer {

// Appends `text`, which is UTF-8, in the normal form.
void appendNormalized(const Section &section, NormalForm form, std::string_view text, std::string &out);

}  // namespace talc::tokenizer
