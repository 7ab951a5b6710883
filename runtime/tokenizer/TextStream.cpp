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

TextStream::TextStream(const Tokenizer &tokenizer, bool skipSpecial) : tokenizer(tokenizer), skipSpecial(skipSpecial) {
  constexpr size_t usualIds = 4 * maxHeldIds, usualBytes = 256;
  ids.reserve(usualIds);
  shown.reserve(usualBytes), next.reserve(usualBytes);
}

void TextStream::follow(const int32_t *before, size_t count, DecodeScratch &scratch) {
  constexpr size_t enough = 8;  // for spaces, and for characters spread over tokens
  for (size_t i = count - std::min(count, enough); i < count; ++i)
    push(before[i], scratch);
}

std::string_view TextStream::push(int32_t id, DecodeScratch &scratch, std::string *target) {
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
  const std::string &text = scratch.decoded;
  tokenizer.decode(ids.data(), ids.size(), skipSpecial, scratch, scratch.decoded);
  bool grows = text.size() > shown.size();
  bool shows = grows && !(endsIncomplete(text) && ids.size() - shownIds < maxHeldIds);
  if (shows)
    tokenizer.decode(ids.data() + shownIds, ids.size() - shownIds, skipSpecial, scratch, next);
  std::string_view piece = shows ? show(text, target) : std::string_view();
  attempt.succeeds = true;
  return piece;
}

std::string_view TextStream::finish(DecodeScratch &scratch, std::string *target) {
  tokenizer.decode(ids.data(), ids.size(), skipSpecial, scratch, scratch.decoded);
  if (scratch.decoded.size() <= shown.size())
    return {};
  tokenizer.decode(ids.data() + shownIds, ids.size() - shownIds, skipSpecial, scratch, next);
  return show(scratch.decoded, target);
}

// `text`: of all ids; `next`: of those that were not shown.
std::string_view TextStream::show(const std::string &text, std::string *target) {
  // A run of byte tokens that turns out to be no UTF-8 changes what its beginning meant; what was shown stays.
  bool extends = text.compare(0, shown.size(), shown) == 0;
  size_t before = shown.size();
  if (target)
    target->append(extends ? std::string_view(text).substr(before) : std::string_view(next));
  ids.erase(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(shownIds));
  shownIds = ids.size();
  shown.swap(next);
  return extends ? std::string_view(text).substr(before) : std::string_view(shown);
}

}  // namespace talc
