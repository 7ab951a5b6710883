// SPDX-License-Identifier: Apache-2.0
// Decodes generated tokens one by one into text that can be shown at once.
#pragma once

#include "runtime/tokenizer/Tokenizer.h"

namespace talc {

// One token is not one piece of text: a character may be spread over several tokens, and spaces depend on the
// neighbours. The stream holds text back until it can no longer change; the concatenation of what push() and finish()
// return is what decode() gives for all ids. Any number of streams may share one scratch.
class TextStream {
public:
  explicit TextStream(const Tokenizer &tokenizer, bool skipSpecial = true);

  // The first text to come follows these tokens: they decide about spaces, and are not shown again. A character that
  // they begin comes with the token that completes it.
  void follow(const int32_t *before, size_t count, DecodeScratch &scratch);
  // The text that `id` completes, UTF-8; often one word, sometimes nothing. It is valid until the next call with the
  // same scratch. Appends it to `target`, if that is not null. Without memory both are as they were, and the token can
  // be pushed again.
  std::string_view push(int32_t id, DecodeScratch &scratch, std::string *target = nullptr);
  // Appends to `target` what push() does, then what finish() would if no other token came. Returns the size of `target`
  // without the latter. Without memory nothing changes.
  size_t pushAndPeek(int32_t id, DecodeScratch &scratch, std::string &target);
  // Returns what is still held back, in the same way, and ends the text.
  std::string_view finish(DecodeScratch &scratch, std::string *target = nullptr);

private:
  const Tokenizer &tokenizer;
  bool skipSpecial;
  std::vector<DecodeState> states, next;  // of the decoders: after what was pushed, and while an id is
};

}  // namespace talc
