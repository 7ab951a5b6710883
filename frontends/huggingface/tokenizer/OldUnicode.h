// SPDX-License-Identifier: Apache-2.0
// Properties of characters in the older versions of Unicode that parts of Hugging Face's tokenizers go by.
#pragma once

#include "frontends/huggingface/tokenizer/UnicodeProperties.h"

namespace talc::huggingface {

// The categories "P", "Mn" and "Cf" of Unicode 8: BERT's normalizer and splits at punctuation.
CharacterSet unicode8Category(const UnicodeProperties &unicode, const std::string &name);

// The category "M" of Unicode 9: what StripAccents removes.
CharacterSet unicode9Marks(const UnicodeProperties &unicode);

// Characters with no decomposition and no combining class in Unicode 9, by which normal forms go.
CharacterSet plainInUnicode9();

}  // namespace talc::huggingface
