// SPDX-License-Identifier: Apache-2.0
// Sets of tokens as intervals of ids, and as bits that a caller provides.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace talc {

// Ids from `begin` to `end` - 1.
struct IdRange {
  int32_t begin, end;
};

// Calls visit(id) for every id, ascending.
template <typename Visit> void forEachId(const std::vector<IdRange> &ranges, Visit visit) {
  for (const IdRange &ids : ranges)
    for (int32_t id = ids.begin; id < ids.end; ++id)
      visit(id);
}

// `ranges` are ascending and do not overlap.
inline bool containsId(const std::vector<IdRange> &ranges, int32_t id) {
  auto endsBehind = [](int32_t id, const IdRange &ids) { return id < ids.end; };
  auto first = std::upper_bound(ranges.begin(), ranges.end(), id, endsBehind);
  return first != ranges.end() && first->begin <= id;
}

// Stores the ids of `ranges` whose bit is set: bit id % 32 of bits[id / 32].
void intersect(const std::vector<IdRange> &ranges, const uint32_t *bits, std::vector<IdRange> &result);

}  // namespace talc
