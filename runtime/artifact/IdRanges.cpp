// SPDX-License-Identifier: Apache-2.0
// Goes from one change of the bits to the next, a word at a time.
#include "runtime/artifact/IdRanges.h"

namespace talc {

// Returns the first id from `id` on whose bit has this value; `end` when there is none.
static int32_t findBit(const uint32_t *bits, int32_t id, int32_t end, bool value) {
  while (id < end) {
    uint32_t word = (value ? bits[id / 32] : ~bits[id / 32]) >> (id % 32);
    if (word != 0)
      return std::min(end, id + __builtin_ctz(word));
    id = (id / 32 + 1) * 32;
  }
  return end;
}

void intersect(const std::vector<IdRange> &ranges, const uint32_t *bits, std::vector<IdRange> &result) {
  result.clear();
  for (const IdRange &ids : ranges)
    for (int32_t begin = findBit(bits, ids.begin, ids.end, true); begin < ids.end;) {
      int32_t end = findBit(bits, begin, ids.end, false);
      result.push_back({begin, end});
      begin = findBit(bits, end, ids.end, true);
    }
}

}  // namespace talc
