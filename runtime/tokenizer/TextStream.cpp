// SPDX-License-Identifier: Apache-2.0
// Streaming by decoding a short window of ids twice: with and without the new ones.
#include "runtime/tokenizer/TextStream.h"

namespace talc {

namespace {
// A character has at most 4 bytes; text that ends in U+FFFD for longer is really broken and is shown.
constexpr size_t maxHeldIds = 8;

bool endsIncomplete(const std::string &text) {
  return text.size() >= 3 && text.compare(text.size() - 3, 3, "\xEF\xBF\xBD") == 0;
}
}  // namespace

std::string TextStream::push(int32_t id) {
  ids.push_back(id);
  std::string text = tokenizer.decode(ids.data(), ids.size(), skipSpecial);
  bool mayChange = endsIncomplete(text) && ids.size() - shownIds < maxHeldIds;
  return text.size() <= shown.size() || mayChange ? std::string() : show(text);
}

std::string TextStream::finish() {
  std::string text = tokenizer.decode(ids.data(), ids.size(), skipSpecial);
  return text.size() <= shown.size() ? std::string() : show(text);
}

std::string TextStream::show(const std::string &text) {
  // A run of byte tokens that turns out to be no UTF-8 changes what its beginning meant; what was shown stays.
  bool extends = text.compare(0, shown.size(), shown) == 0;
  std::string fresh =
      extends ? text.substr(shown.size()) : tokenizer.decode(ids.data() + shownIds, ids.size() - shownIds, skipSpecial);
  ids.erase(ids.begin(), ids.begin() + static_cast<ptrdiff_t>(shownIds));
  shownIds = ids.size();
  shown = tokenizer.decode(ids.data(), ids.size(), skipSpecial);
  return fresh;
}

}  // namespace talc
