// SPDX-License-Identifier: Apache-2.0
// Decodes generated tokens one by one into text that can be shown at once.
#pragma once

#include "runtime/tokenizer/Tokenizer.h"

namespace talc {

// One token is not one piece of text: a character may be spread over several tokens, and spaces depend on the
// neighbours. The stream holds text back until it can no longer change; the concatenation of what push() and finish()
// return is what decode() gives for all ids.
class TextStream {
public:
  explicit TextStream(const Tokenizer &tokenizer, bool skipSpecial = true)
      : tokenizer(tokenizer), skipSpecial(skipSpecial) {}

  // The first text to come follows these tokens: they decide about spaces, and are not shown again.
  void follow(const int32_t *before, size_t count);
  // The text that `id` completes, UTF-8; often one word, sometimes nothing.
  std::string push(int32_t id);
  // What is still held back.
  std::string finish();

private:
  const Tokenizer &tokenizer;
  bool skipSpecial;
  std::vector<int32_t> ids;  // of the text shown last, then of the text held back
  size_t shownIds = 0;
  std::string shown;  // decode of the first shownIds

  std::string show(const std::string &text);
};

}  // namespace talc
