// SPDX-License-Identifier: Apache-2.0
// What `!talc.sequences` and `!talc.kv_cache` stand for while a step is interpreted.
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
  int64_t prefix;        // under a prefix mask the first `prefix` tokens of the sequence see each other
  int sourceSlot;        // where the source is that the sequence answers to
  int64_t sourceLength;  // its tokens; 0: there is none
  int64_t segment = 0;   // of its text, in which the first token stands at `firstPosition`

  int64_t length() const { return firstPosition + rows; }
};

// What a key is: a row of the step, a token of a sequence, past or present, or a token of a sequence's source.
enum class KeyKind { step, sequence, source };

struct StepSequences {
  std::vector<SequenceRows> sequences;
  std::vector<int64_t> positions;             // of every row in its sequence
  std::vector<int32_t> types;                 // of every row
  std::vector<std::vector<int64_t>> outputs;  // for each result of the model the rows that it is wanted for

  int64_t rows() const { return static_cast<int64_t>(positions.size()); }

  // The keys of a kind that a sequence has.
  static int64_t keys(const SequenceRows &sequence, KeyKind kind) {
    return kind == KeyKind::step       ? sequence.rows
           : kind == KeyKind::sequence ? sequence.length()
                                       : sequence.sourceLength;
  }
  // The keys of a kind that all sequences have, which lie end to end.
  int64_t keys(KeyKind kind) const {
    int64_t sum = 0;
    for (const SequenceRows &sequence : sequences)
      sum += keys(sequence, kind);
    return sum;
  }
};

// What the keys of a head left: width + 1 rows of width, the last being what divides.
using HeadMemory = std::vector<std::vector<double>>;

// Keys and values of one sequence, one vector per position; of a memory what earlier segments left to each head, and
// what the open one will.
struct SlotState {
  std::vector<std::vector<double>> keys, values;
  std::vector<HeadMemory> past, pending;
};

// One `talc.kv_cache`: what each slot keeps.
using State = std::map<int, SlotState>;

}  // namespace talc::reference
