// SPDX-License-Identifier: Apache-2.0
// How the tokenizer of Moses cuts English texts into words, as stages of a tokenizer.json.
#pragma once

#include "frontends/tokenizer/JsonFields.h"

namespace talc::frontend {

// Texts become as the punctuation normalizer of Moses leaves them, with spaces where the tokenizer cuts at commas,
// apostrophes and dashes within words ("well @-@ known"), and at commas and points within numbers ("5 @,@ 000").
Json makeMosesNormalizer();

// Cuts at spaces, at symbols, at several dots, and before the point of a word that is not an abbreviation.
Json makeMosesPreTokenizer();

}  // namespace talc::frontend
