// SPDX-License-Identifier: Apache-2.0
// Lookups in a checked section.
#include "runtime/tokenizer/Section.h"

namespace talc::tokenizer {

bool Section::searchRanges(const CharSet &set, uint32_t codePoint) const {
  return findRange(Array<Range>{ranges.items + set.firstRange, set.rangeCount}, codePoint) != nullptr;
}

uint32_t Section::child(uint32_t node, unsigned char byte) const {
  uint32_t low = trie[node].firstChild, high = low + trie[node].childCount, end = high;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (trie[middle].label < byte)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && trie[low].label == byte ? low : none;
}

uint32_t Section::find(uint32_t root, std::string_view key) const {
  uint32_t node = root;
  for (size_t i = 0; i < key.size() && node != none; ++i)
    node = child(node, static_cast<unsigned char>(key[i]));
  return node == none ? none : trie[node].value;
}

uint32_t Section::findLongest(uint32_t root, std::string_view text, size_t &length) const {
  uint32_t node = root, result = none;
  for (size_t i = 0; i < text.size() && node != none; ++i) {
    node = child(node, static_cast<unsigned char>(text[i]));
    if (node == none || trie[node].value == none)
      continue;
    result = trie[node].value;
    length = i + 1;
  }
  return result;
}

}  // namespace talc::tokenizer
