// SPDX-License-Identifier: Apache-2.0
// What tokenizer.ggml.pre means: GGUF has a name where tokenizer.json has rules.
#pragma once

#include <string>
#include <vector>

namespace talc::frontend {

// How texts are cut into words before BPE: by patterns, each of which splits what those before it left, then single
// digits, then by GPT-2's pattern.
struct Splits {
  std::vector<const char *> patterns;
  bool digits = false, gpt2 = false;
};

struct PreTokenizer {
  std::vector<const char *> names;
  Splits splits;
  bool composes = false;    // texts become NFC first
  bool wholeWords = false;  // words that are tokens need no merges
  bool begins = false;      // texts begin with a token, unless a key says otherwise
  bool isText = false;  // pieces are UTF-8 in which U+2581 stands for a space, as in SentencePiece, not GPT-2's bytes
};

// Null: talc does not know the name.
const PreTokenizer *findPreTokenizer(const std::string &name);

}  // namespace talc::frontend
