// SPDX-License-Identifier: Apache-2.0
// Tokens that may be drawn, the likeliest first, sorted only as far as needed.
#pragma once

#include "runtime/sampling/SamplingScratch.h"

#include <algorithm>

namespace talc {

// A heap in front yields candidates from the likeliest on, which are collected at the back:
//
//   list   [ heap, in no order to speak of ][ ..., third, second, likeliest ]
//
// So a filter that stops early costs little, and the vocabulary is never sorted.
class SortedCandidates {
public:
  // Rearranges `list`, whose values are probabilities times a constant: that of the likeliest is 1. There is at least
  // one candidate.
  explicit SortedCandidates(std::vector<Candidate> &list) : list(list), remaining(list.size()), heap(list.size()) {
    std::make_heap(list.begin(), list.end(), lessLikely);
  }

  // The number of candidates that remain.
  size_t size() const { return remaining; }
  const Candidate &operator[](size_t rank) {
    sortUpTo(rank + 1);
    return list[list.size() - 1 - rank];
  }
  // Returns the sum of their values in one order: from the likeliest down, unless nothing was removed yet.
  double mass();

  // Removes all but the `count` likeliest, at least one.
  void keep(size_t count) {
    remaining = std::max<size_t>(1, std::min(remaining, count));
    isCut = true;
  }
  // Removes those that keeps(rank) rejects; one must remain.
  template <typename Keeps> void keepIf(Keeps keeps);

  // The index in the list where the remaining ones begin, the least likely first.
  size_t begin() {
    sortUpTo(remaining);
    return list.size() - remaining;
  }

private:
  // Equal values are ordered by id, so that the order is total and the same everywhere.
  static bool lessLikely(const Candidate &a, const Candidate &b) {
    return a.value != b.value ? a.value < b.value : a.id > b.id;
  }
  void sortUpTo(size_t count) {
    while (list.size() - heap < count)
      std::pop_heap(list.begin(), list.begin() + static_cast<ptrdiff_t>(heap--), lessLikely);
  }

  std::vector<Candidate> &list;
  size_t remaining, heap;
  bool isCut = false;
};

inline double SortedCandidates::mass() {
  double sum = 0;
  if (!isCut)
    for (const Candidate &candidate : list)
      sum += candidate.value;
  for (size_t i = list.size(), last = isCut ? begin() : i; i-- > last;)
    sum += list[i].value;
  return sum;
}

template <typename Keeps> void SortedCandidates::keepIf(Keeps keeps) {
  sortUpTo(remaining);
  size_t target = list.size();
  for (size_t rank = 0; rank < remaining; ++rank)
    if (keeps(rank))
      list[--target] = list[list.size() - 1 - rank];
  remaining = list.size() - target;
  heap = std::min(heap, target);
  isCut = true;
}

}  // namespace talc
