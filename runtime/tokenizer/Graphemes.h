// SPDX-License-Identifier: Apache-2.0
// Extended grapheme clusters (UAX #29).
#pragma once

#include "runtime/tokenizer/Section.h"

namespace talc::tokenizer {

// Returns the end of the cluster that begins at `begin` < text.size().
size_t clusterEnd(const Section &section, std::string_view text, size_t begin);

}  // namespace talc::tokenizer
