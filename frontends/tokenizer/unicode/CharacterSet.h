// SPDX-License-Identifier: Apache-2.0
// Sets of Unicode code points.
#pragma once

#include "runtime/tokenizer/TokenizerFormat.h"

#include <vector>

namespace talc::frontend {

// Sorted, disjoint, non-adjacent ranges.
class CharacterSet {
public:
  CharacterSet() = default;
  CharacterSet(std::initializer_list<tokenizer::Range> ranges) {
    for (tokenizer::Range range : ranges)
      add(range.first, range.last);
  }
  static CharacterSet of(uint32_t codePoint) { return {{codePoint, codePoint}}; }
  static CharacterSet parse(const char *ranges);  // "41-5a aa": hexadecimal

  void add(uint32_t first, uint32_t last);
  void add(const CharacterSet &other);
  CharacterSet negated() const;
  CharacterSet intersected(const CharacterSet &other) const;
  bool contains(uint32_t codePoint) const;

  const std::vector<tokenizer::Range> &ranges() const;

private:
  mutable std::vector<tokenizer::Range> items;
  mutable bool isSorted = true;

  void joinNeighbours() const;  // of sorted items
};

}  // namespace talc::frontend
