// SPDX-License-Identifier: Apache-2.0
// Memory for choosing a token: lists as long as the vocabulary.
#pragma once

#include "runtime/artifact/IdRanges.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace talc {

// A token that may be drawn.
struct Candidate {
  double value;  // logit, later the probability times a constant
  int32_t id;
};

// A set of tokens that is emptied without clearing memory.
class TokenMarks {
public:
  void reserve(size_t vocabulary) {
    if (markedIn.size() < vocabulary)
      markedIn.resize(vocabulary);
  }
  // Empties the set.
  void clear() { ++round; }
  // Returns false if the token is in the set already.
  bool add(int32_t id) {
    bool isNew = markedIn[id] != round;
    markedIn[id] = round;
    return isNew;
  }
  bool contains(int32_t id) const { return markedIn[id] == round; }

private:
  std::vector<uint64_t> markedIn;  // [vocabulary], the last round that added the token
  uint64_t round = 1;
};

// Samplers and searches of one vocabulary can share it, one after another: nothing in it outlives a choice. Users
// reserve the lists that they need, so that choosing allocates nothing.
struct SamplingScratch {
  std::vector<float> allowed;         // [vocabulary], logits without forbidden tokens
  std::vector<Candidate> candidates;  // up to [vocabulary]
  std::vector<float> blockMaxima;     // largest logits of blocks of ids, in their order
  std::vector<float> rankedMaxima;    // the same, the largest ones first
  std::vector<double> scores;         // [vocabulary], of beam search
  TokenMarks marks;                   // tokens that the text has already
  std::vector<uint32_t> counts;       // [vocabulary], how often the new part of a text has its tokens
  std::vector<IdRange> ranges;        // tokens that a mask allows
};

}  // namespace talc
