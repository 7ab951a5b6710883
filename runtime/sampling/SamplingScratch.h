// SPDX-License-Identifier: Apache-2.0
// Memory that choosing a token needs for as long as it lasts: a row of the vocabulary per list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace talc {

// A token that may be drawn.
struct Candidate {
  double value;  // logit, later the probability times a constant
  int32_t id;
};

// A set of tokens that is emptied without being cleared.
class TokenMarks {
public:
  void reserve(size_t vocabulary) {
    if (markedIn.size() < vocabulary)
      markedIn.resize(vocabulary);
  }
  // Empties the set.
  void clear() { ++round; }
  // False: the token is there already.
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

// Any number of samplers and searches of one vocabulary share one, one after another: nothing in it outlives a choice.
// Who uses a list reserves it first, so that choosing allocates nothing.
struct SamplingScratch {
  std::vector<float> allowed;         // [vocabulary], logits without forbidden tokens
  std::vector<Candidate> candidates;  // up to [vocabulary]
  std::vector<double> scores;         // [vocabulary], of beam search
  TokenMarks marks;                   // tokens that the text has already
};

}  // namespace talc
