// SPDX-License-Identifier: Apache-2.0
// The contents of `!talc.sequences` and `!talc.kv_cache` while a step is interpreted.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace talc::reference {

// The tokens [firstRow, firstRow + rows) of a step belong to one sequence, which has `firstPosition` tokens from
// earlier steps.
struct SequenceTokens {
  int slot;
  int64_t firstRow, rows, firstPosition;
  int64_t prefix;        // under a prefix mask the first `prefix` tokens of the sequence see each other
  int sourceSlot;        // the slot of the sequence's source
  int64_t sourceLength;  // the tokens of the source; 0: no source
  int64_t segment = 0;   // the segment of the text, in which the first token has the position `firstPosition`

  int64_t length() const { return firstPosition + rows; }
};

// A key belongs to a token of the step, to a past or present token of a sequence, or to a token of a source.
enum class KeyKind { step, sequence, source };

struct StepSequences {
  std::vector<SequenceTokens> sequences;
  std::vector<int64_t> positions;             // of every token in its sequence
  std::vector<int32_t> types;                 // of every token
  std::vector<std::vector<int64_t>> outputs;  // for each result of the model the tokens that have it

  int64_t rows() const { return static_cast<int64_t>(positions.size()); }

  // The keys of a kind that a sequence has.
  static int64_t keys(const SequenceTokens &sequence, KeyKind kind) {
    return kind == KeyKind::step       ? sequence.rows
           : kind == KeyKind::sequence ? sequence.length()
                                       : sequence.sourceLength;
  }
  // The keys of a kind that all sequences have together.
  int64_t keys(KeyKind kind) const {
    int64_t sum = 0;
    for (const SequenceTokens &sequence : sequences)
      sum += keys(sequence, kind);
    return sum;
  }
};

// A matrix of the state of a recurrence, or the compressive memory of a head, whose last row is the normalizer.
using HeadMemory = std::vector<std::vector<double>>;

// Keys and values of one sequence, one vector per position; or the memory of earlier segments for each head, and what
// the open segment will add to it; or the state of a recurrence for each head, in `past`.
struct SlotState {
  std::vector<std::vector<double>> keys, values;
  std::vector<HeadMemory> past, pending;
};

// The contents of one `talc.kv_cache` for each slot.
using State = std::map<int, SlotState>;

}  // namespace talc::reference
