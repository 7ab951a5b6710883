// SPDX-License-Identifier: Apache-2.0
// The pre-tokenizers that cut pieces into smaller ones.
#pragma once

#include "runtime/tokenizer/Pieces.h"
#include "runtime/tokenizer/Section.h"
#include "runtime/tokenizer/TextLimits.h"

namespace talc::tokenizer {

// Applies a Split, SplitLength or SplitScripts to every piece that is no added token. False: the pattern ran out of
// steps.
bool splitAll(const Section &section, const Op &op, Pieces &pieces, TextLimits &limits);

}  // namespace talc::tokenizer
