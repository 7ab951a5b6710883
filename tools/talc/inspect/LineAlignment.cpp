// SPDX-License-Identifier: Apache-2.0
// The shortest edit script, found along diagonals (Myers 1986): after d edits `ends[k]` is how far `before` was taken
// on diagonal k, the number of a line of `before` minus that of its partner. The way back through all d gives the runs.
#include "tools/talc/inspect/StableNames.h"

#include <algorithm>

namespace talc::tools {

namespace {

class EditScript {
public:
  EditScript(llvm::ArrayRef<uint64_t> before, llvm::ArrayRef<uint64_t> after) : before(before), after(after) {}

  // Runs in descending order; none if there are too many edits.
  std::vector<SameLines> find() {
    constexpr int maxEdits = 2500;
    int sum = static_cast<int>(before.size() + after.size()), limit = std::min(sum, maxEdits);
    zero = limit + 1;
    ends.assign(2 * limit + 3, 0);
    for (int d = 0; d <= limit; ++d) {
      trace.emplace_back(ends.begin() + (zero - d - 1), ends.begin() + (zero + d + 2));
      for (int k = -d; k <= d; k += 2)
        if (extend(d, k))
          return walkBack();
    }
    return {};
  }

private:
  static bool goesDown(const int *end, int d, int k) { return k == -d || (k != d && end[k - 1] < end[k + 1]); }

  // Follows a diagonal as far as lines are equal. True at the end of both texts.
  bool extend(int d, int k) {
    int *end = ends.data() + zero;
    int i = goesDown(end, d, k) ? end[k + 1] : end[k - 1] + 1;
    while (i < static_cast<int>(before.size()) && i - k < static_cast<int>(after.size()) && before[i] == after[i - k])
      ++i;
    end[k] = i;
    return i >= static_cast<int>(before.size()) && i - k >= static_cast<int>(after.size());
  }

  std::vector<SameLines> walkBack() const {
    std::vector<SameLines> runs;
    int i = static_cast<int>(before.size()), j = static_cast<int>(after.size());
    for (int d = static_cast<int>(trace.size()) - 1; d >= 0; --d) {
      const int *end = trace[d].data() + d + 1;
      int k = i - j;
      bool down = goesDown(end, d, k);
      int first = d == 0 ? 0 : down ? end[k + 1] : end[k - 1] + 1;
      if (i > first)
        runs.push_back({first, first - k, i - first});
      i = down ? first : first - 1;
      j = first - k - (down ? 1 : 0);
    }
    return runs;
  }

  llvm::ArrayRef<uint64_t> before, after;
  int zero = 0;
  std::vector<int> ends;
  std::vector<std::vector<int>> trace;  // `ends` around zero, before the edits of each d
};

}  // namespace

std::vector<SameLines> alignLines(llvm::ArrayRef<uint64_t> before, llvm::ArrayRef<uint64_t> after) {
  size_t shorter = std::min(before.size(), after.size()), head = 0, tail = 0;
  while (head < shorter && before[head] == after[head])
    ++head;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail])
    ++tail;
  std::vector<SameLines> runs;
  auto add = [&](int from, int to, int count) {
    if (count > 0)
      runs.push_back({from, to, count});
  };
  add(0, 0, static_cast<int>(head));
  auto middle =
      EditScript(before.slice(head, before.size() - head - tail), after.slice(head, after.size() - head - tail)).find();
  for (auto run = middle.rbegin(); run != middle.rend(); ++run)
    add(run->before + static_cast<int>(head), run->after + static_cast<int>(head), run->count);
  add(static_cast<int>(before.size() - tail), static_cast<int>(after.size() - tail), static_cast<int>(tail));
  return runs;
}

}  // namespace talc::tools
