// SPDX-License-Identifier: Apache-2.0
// A tokenizer section after its bounds check: typed arrays over the mapped bytes, and lookups in its tries and sets.
#pragma once

#include "runtime/tokenizer/TokenizerFormat.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace talc::tokenizer {

// `count` elements that somebody else owns.
template <typename T> struct Array {
  const T *items = nullptr;
  size_t count = 0;

  const T &operator[](size_t i) const { return items[i]; }
  const T *begin() const { return items; }
  const T *end() const { return items + count; }
};

struct Section {
  const Header *header = nullptr;
  Array<char> pool;
  Array<Token> tokens, targets;
  Array<double> scores;
  Array<TrieNode> trie;
  Array<uint32_t> mergeFirst;
  Array<Merge> merges;
  Array<Range> ranges;
  Array<CharSet> sets;
  Array<Instruction> instructions;
  Array<Pattern> patterns;
  Array<CharMapping> mappings;
  Array<CharMap> maps;
  Array<Text> expansions;
  Array<uint32_t> codePoints;
  Array<Decomposition> canonical, compatible;
  Array<Composition> compositions;
  Array<ValueRange> combining, graphemes, scripts;
  Array<Op> normalizers, preTokenizers, decoders;
  Array<TemplateItem> single, pair;
  Array<Language> languages;

  // Points the arrays into the bytes and checks every index of the section: after true, nothing in it leads outside,
  // and every text in it is UTF-8. `error` is one line otherwise. The bytes must be aligned to 8 and outlive the
  // section.
  bool open(const unsigned char *bytes, size_t size, std::string &error);

  std::string_view text(Text text) const { return {pool.items + text.offset, text.size}; }

  bool contains(uint32_t set, uint32_t codePoint) const {
    const CharSet &s = sets[set];
    return codePoint < 128 ? s.ascii[codePoint / 32] >> codePoint % 32 & 1 : searchRanges(s, codePoint);
  }

  // The child of `node` along `byte`, or none.
  uint32_t child(uint32_t node, unsigned char byte) const;
  // The value of exactly `key`, or none. `root` may be none.
  uint32_t find(uint32_t root, std::string_view key) const;
  // The value of the longest key that `text` begins with, or none; `length` receives its bytes.
  uint32_t findLongest(uint32_t root, std::string_view text, size_t &length) const;

private:
  bool searchRanges(const CharSet &set, uint32_t codePoint) const;
};

// The element whose first..last holds `codePoint`, or null.
template <typename T> const T *findRange(Array<T> sorted, uint32_t codePoint) {
  size_t low = 0, high = sorted.count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (sorted[middle].last < codePoint)
      low = middle + 1;
    else
      high = middle;
  }
  return low < sorted.count && sorted[low].first <= codePoint ? &sorted[low] : nullptr;
}

}  // namespace talc::tokenizer
