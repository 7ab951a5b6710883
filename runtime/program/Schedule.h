// SPDX-License-Identifier: Apache-2.0
// Which input is worked on in which place, when there are more inputs than places.
#pragma once

#include <cstddef>
#include <vector>

namespace talc::program {

class Schedule {
public:
  struct Start {
    size_t place, input;
  };

  // `lengths` of the inputs in tokens; those of length 0 are left out. `sorts`: the longest first, so that inputs of
  // like lengths are together; else in their order.
  Schedule(const std::vector<size_t> &lengths, size_t places, bool sorts);

  // What is to be started now. Places are refilled several at a time: short steps are slow ones.
  const std::vector<Start> &next();
  // What the last `next` said.
  const std::vector<Start> &started() const { return starts; }

  // The input in a place has ended.
  void release(size_t place);

  size_t places() const { return inputs.size(); }
  bool isBusy(size_t place) const { return inputs[place] != none; }
  size_t input(size_t place) const { return inputs[place]; }
  bool anyBusy() const { return busy > 0; }

private:
  static constexpr size_t none = ~size_t(0);

  std::vector<size_t> order;   // of the inputs
  std::vector<size_t> inputs;  // [place]
  std::vector<Start> starts;
  size_t taken = 0, busy = 0;
};

}  // namespace talc::program
