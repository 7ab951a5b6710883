// SPDX-License-Identifier: Apache-2.0
// Sorts once, then fills places.
#include "runtime/program/Schedule.h"

#include <algorithm>

namespace talc::program {

Schedule::Schedule(const std::vector<size_t> &lengths, size_t places, bool sorts) {
  for (size_t i = 0; i < lengths.size(); ++i)
    if (lengths[i] > 0)
      order.push_back(i);
  if (sorts)
    std::sort(order.begin(), order.end(),
              [&](size_t a, size_t b) { return lengths[a] != lengths[b] ? lengths[a] > lengths[b] : a < b; });
  inputs.assign(std::max<size_t>(1, std::min(places, order.size())), none);
}

const std::vector<Schedule::Start> &Schedule::next() {
  starts.clear();
  size_t waiting = order.size() - taken, free = inputs.size() - busy;
  size_t enough = std::max<size_t>(1, std::min(waiting, inputs.size() / 4));
  if (waiting == 0 || free < enough)
    return starts;
  for (size_t place = 0; place < inputs.size() && taken < order.size(); ++place)
    if (inputs[place] == none) {
      inputs[place] = order[taken++];
      starts.push_back({place, inputs[place]});
    }
  busy += starts.size();
  return starts;
}

void Schedule::release(size_t place) {
  inputs[place] = none;
  --busy;
}

}  // namespace talc::program
