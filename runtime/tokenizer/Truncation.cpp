// SPDX-License-Identifier: Apache-2.0
// Cuts texts before the post-processor adds its tokens, as Hugging Face's tokenizers do (strategy longest_first).
#include "runtime/tokenizer/Tokenizer.h"

#include <algorithm>

namespace talc {

using namespace tokenizer;

static void cut(std::vector<int32_t> &ids, size_t length, bool cutsBegin) {
  if (ids.size() <= length)
    return;
  auto begin = cutsBegin ? ids.begin() : ids.begin() + static_cast<ptrdiff_t>(length);
  ids.erase(begin, begin + static_cast<ptrdiff_t>(ids.size() - length));
}

// The longer text of a pair is cut to what the shorter one leaves, but to no less than that one; then both are.
static void cutPair(std::vector<int32_t> &first, std::vector<int32_t> &second, size_t room, bool cutsBegin) {
  bool isSwapped = first.size() > second.size();
  size_t shorter = std::min(first.size(), second.size());
  size_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = shorter + room % 2;
  }
  cut(first, isSwapped ? longer : shorter, cutsBegin);
  cut(second, isSwapped ? shorter : longer, cutsBegin);
}

bool Tokenizer::encodeWithin(std::string_view first, const std::string_view *second, size_t maxTokens, bool cutsBegin,
                             int32_t language, std::vector<int32_t> &ids, std::vector<int32_t> &types, size_t &dropped,
                             std::string &error) const {
  std::vector<int32_t> firstIds, secondIds;
  dropped = 0;
  if (!encodeText(first, true, firstIds, error) || (second && !encodeText(*second, true, secondIds, error)))
    return false;
  const Array<TemplateItem> &items = second ? section.pair : section.single;
  auto isToken = [](const TemplateItem &item) {
    return item.kind == static_cast<uint32_t>(ItemKind::Token) ||
           item.kind == static_cast<uint32_t>(ItemKind::Language);
  };
  auto added = static_cast<size_t>(std::count_if(items.begin(), items.end(), isToken));
  size_t room = maxTokens > added ? maxTokens - added : 0, total = firstIds.size() + secondIds.size();
  if (maxTokens > 0 && total > room) {
    second ? cutPair(firstIds, secondIds, room, cutsBegin) : cut(firstIds, room, cutsBegin);
    dropped = total - firstIds.size() - secondIds.size();
  }
  applyTemplate(items, true, language, firstIds, secondIds, ids, &types);
  return true;
}

}  // namespace talc
