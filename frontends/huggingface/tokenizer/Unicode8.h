// SPDX-License-Identifier: Apache-2.0
// Categories of characters as of Unicode 8, which Hugging Face's BERT components go by.
#pragma once

#include "frontends/huggingface/tokenizer/UnicodeProperties.h"

namespace talc::huggingface {

// For "P", "Mn" and "Cf": younger marks, punctuation and format characters are none of these.
CharacterSet unicode8Category(const UnicodeProperties &unicode, const std::string &name);

}  // namespace talc::huggingface
