// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizers that cut pieces into smaller ones.
#pragma once

#include "runtime/tokenizer/Section.h"
#include "runtime/tokenizer/TextLimits.h"
#include "runtime/tokenizer/TextPieces.h"

namespace talc::tokenizer {

// Applies a Split, SplitLength or SplitScripts to every piece that is not an added token. Returns false if the pattern
// ran out of steps.
bool splitAll(const Section &section, const Op &op, TextPieces &pieces, TextLimits &limits);

}  // namespace talc::tokenizer
