// SPDX-License-Identifier: Apache-2.0
// Set algebra on code point ranges.
#include "frontends/tokenizer/unicode/CharacterSet.h"

#include <algorithm>
#include <cstdlib>

namespace talc::frontend {

using tokenizer::Range;

static bool before(Range left, Range right) {
  return left.first < right.first;
}

CharacterSet CharacterSet::parse(const char *ranges) {
  CharacterSet set;
  while (*ranges) {
    char *end = nullptr;
    auto first = static_cast<uint32_t>(std::strtoul(ranges, &end, 16)), last = first;
    if (*end == '-')
      last = static_cast<uint32_t>(std::strtoul(end + 1, &end, 16));
    set.add(first, last);
    ranges = *end == ' ' ? end + 1 : end;
  }
  return set;
}

void CharacterSet::add(uint32_t first, uint32_t last) {
  if (!items.empty() && isSorted && items.back().last + 1 == first) {
    items.back().last = last;
    return;
  }
  isSorted = isSorted && (items.empty() || items.back().last < first);
  items.push_back({first, last});
}

// Both are sorted, so that a union costs no more than it has ranges.
void CharacterSet::add(const CharacterSet &other) {
  const std::vector<Range> &lhs = ranges(), &rhs = other.ranges();
  std::vector<Range> both(lhs.size() + rhs.size());
  std::merge(lhs.begin(), lhs.end(), rhs.begin(), rhs.end(), both.begin(), before);
  items = std::move(both);
  joinNeighbours();
}

const std::vector<Range> &CharacterSet::ranges() const {
  if (isSorted)
    return items;
  std::sort(items.begin(), items.end(), before);
  joinNeighbours();
  return items;
}

void CharacterSet::joinNeighbours() const {
  std::vector<Range> merged;
  for (Range range : items) {
    if (!merged.empty() && range.first <= merged.back().last + 1)
      merged.back().last = std::max(merged.back().last, range.last);
    else
      merged.push_back(range);
  }
  items = std::move(merged);
  isSorted = true;
}

CharacterSet CharacterSet::negated() const {
  CharacterSet result;
  uint32_t next = 0;
  for (Range range : ranges()) {
    if (range.first > next)
      result.add(next, range.first - 1);
    next = range.last + 1;
  }
  if (next <= 0x10FFFF)
    result.add(next, 0x10FFFF);
  return result;
}

CharacterSet CharacterSet::intersected(const CharacterSet &other) const {
  CharacterSet outside = negated();
  outside.add(other.negated());
  return outside.negated();
}

bool CharacterSet::contains(uint32_t codePoint) const {
  const std::vector<Range> &sorted = ranges();
  auto at = std::partition_point(sorted.begin(), sorted.end(), [&](Range range) { return range.last < codePoint; });
  return at != sorted.end() && at->first <= codePoint;
}

}  // namespace talc::frontend
