// SPDX-License-Identifier: Apache-2.0
// The classes of tokenizers that Hugging Face's transformers has, and which settings each of them heeds.
#pragma once

#include "frontends/huggingface/tokenizer/TokenizerSettings.h"

#include <vector>

namespace talc::frontend {

struct FileTranslation;

// Which settings a class heeds although a tokenizer.json is there.
enum ClassTrait : unsigned {
  heedsLowercase = 1,    // do_lower_case, tokenize_chinese_chars and strip_accents of a BertNormalizer, else its own
  heedsPrefixSpace = 2,  // add_prefix_space, else none
  heedsEnds = 4,         // add_bos_token and add_eos_token, if the settings have them; else their own, as below
  replacesEnds = 8 | 4,  // the same, and without them its own count, whatever tokenizer.json adds
};

// The tokens around a text, where a class adds them.
struct EndTokens {
  const char *begin = nullptr, *end = nullptr;  // what they are unless the settings name others
  bool addsBegin = false, addsEnd = false;      // unless the settings say, or tokenizer.json adds tokens itself
};

// tokenizer_class of tokenizer_config.json, or else model_type of config.json, decides.
struct TokenizerClass {
  const char *name;
  std::vector<const char *> modelTypes;
  void (*translate)(FileTranslation &) = nullptr;  // translates vocabulary files; null: talc reads only tokenizer.json
  unsigned traits = 0;                             // ClassTrait
  EndTokens ends = {};
};

// Null if talc does not know the class, or the settings name none and no model type has one.
const TokenizerClass *findTokenizerClass(const TokenizerSettings &settings);

}  // namespace talc::frontend
