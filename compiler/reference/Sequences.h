// SPDX-License-Identifier: Apache-2.0
// What `!talc.sequences` and `!talc.state` stand for while a step is interpreted.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace talc::reference {

// The rows [firstRow, firstRow + rows) of a step belong to one sequence, whose tokens before this step number
// `firstPosition`.
struct SequenceRows {
  int slot;
  int64_t firstRow, rows, firstPosition;

  int64_t length() const { return firstPosition + rows; }
};

struct StepSequences {
  std::vector<SequenceRows> sequences;
  std::vector<int64_t> positions;  // of every row in its sequence
  std::vector<int64_t> outputs;    // the rows whose result is wanted

  int64_t rows() const { return static_cast<int64_t>(positions.size()); }
  // The keys of all sequences, past and present.
  int64_t keys() const {
    int64_t sum = 0;
    for (const SequenceRows &sequence : sequences)
      sum += sequence.length();
    return sum;
  }
};

// Keys and values of one sequence, one vector per position.
struct SlotState {
  std::vector<std::vector<double>> keys, values;
};

// One `talc.state`: what each slot keeps.
using State = std::map<int, SlotState>;

}  // namespace talc::reference
