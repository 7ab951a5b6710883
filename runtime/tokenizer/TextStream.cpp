// SPDX-License-Identifier: Apache-2.0
// Streaming by decoding a short window of ids twice: with and without the new ones.
#include "runtime/tokenizer/TextStream.h"

#include <algorithm>

namespace talc {

namespace {
// A character has at most 4 bytes; text that ends in U+FFFD for longer is really broken and is shown.
constexpr size_t maxHeldIds = 8;

bool endsIncomplete(const std::string &text) {
  return text.size() >= 3 && text.compare(text.size() - 3, 3, "\xEF\xBF\xBD") == 0;
}
}  // namespace

void TextStream::follow(const int32_t *before, size_t count) {
  constexpr size_t enough = 8;  // for spaces, and for characters spread over tokens
  for (size_t i = count - std::min(count, enough); i < count; ++i)
    push(before[i]);
}

// Without memory the stream is as it was, and the token can be pushed again.
std::string TextStream::push(int32_t id) {
  struct Attempt {
    ~Attempt() {
      if (!succeeds)
        ids.pop_back();
    }
    std::vector<int32_t> &ids;
    bool succeeds;
  };
  ids.push_back(id);
  Attempt attempt = {ids, false};
  std::string text = tokenizer.decode(ids.data(), ids.size(), skipSpecial);
  bool mayChange = endsIncomplete(text) && ids.size() - shownIds < maxHeldIds;
  std::string fresh = text.size() <= shown.size() || mayChange ? std::string() : show(text);
  attempt.succeeds = true;
  return fresh;
}

std::string TextStream::finish() {
  std::string text = tokenizer.decode(ids.data(), ids.size(), skipSpecial);
  return text.size() <= shown.size() ? std::string() : show(text);
}

std::string TextStream::show(const std::string &text) {
  // A run of byte tokens that turns out to be no UTF-8 changes what its beginning meant; what was shown stays.
  bool extends = text.compare(0, shown.size(), shown) == 0;
  const int32_t *held = ids.data() + shownIds;
  size_t heldIds = ids.size() - shownIds;
  std::string next = tokenizer.decode(held, heldIds, skipSpecial);
  std::string fresh = extends ? text.substr(shown.size()) : next;
  ids.erase(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(shownIds));
  shownIds = heldIds;
  shown.swap(next);
  return fresh;
}

}  // namespace talc
