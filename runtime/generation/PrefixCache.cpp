// SPDX-License-Identifier: Apache-2.0
// Compares a prompt with every text: there are no more of them than slots.
#include "runtime/generation/PrefixCache.h"

#include <algorithm>
#include <new>
#include <utility>

namespace talc {

int32_t PrefixCache::keep(int32_t slot, std::vector<int32_t> ids) try {
  texts.push_front({slot, std::move(ids)});
  return texts.size() > capacity ? evict() : -1;
} catch (const std::bad_alloc &) {
  session.reset(slot);
  return slot;
}

static size_t countShared(const std::vector<int32_t> &a, const std::vector<int32_t> &b) {
  auto end = a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size()));
  return std::mismatch(a.begin(), end, b.begin()).first - a.begin();
}

PrefixCache::Found PrefixCache::take(const std::vector<int32_t> &ids) {
  size_t longest = 0;
  auto best = texts.end();
  for (auto text = texts.begin(); text != texts.end(); ++text)
    if (size_t shared = countShared(text->ids, ids); shared > longest) {
      longest = shared;
      best = text;
    }
  // At least one token has to be evaluated, since its logits are needed.
  const size_t shared = std::min(longest, ids.size() - 1);
  if (best == texts.end() || shared == 0)
    return {};
  // Windows and memories of segments may have forgotten what is needed there.
  if (session.truncate(best->slot, static_cast<int32_t>(shared)).failed())
    return {};
  Found found = {best->slot, shared};
  texts.erase(best);
  return found;
}

int32_t PrefixCache::evict() {
  int32_t slot = texts.back().slot;
  session.reset(slot);
  texts.pop_back();
  return slot;
}

bool PrefixCache::isIntact() const {
  return std::all_of(texts.begin(), texts.end(), [this](const Text &text) {
    return static_cast<size_t>(session.length(text.slot)) == text.ids.size();
  });
}

}  // namespace talc
