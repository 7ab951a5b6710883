// SPDX-License-Identifier: Apache-2.0
// Beam search for one text, step for step what Hugging Face's generate() does with num_beams > 1 and do_sample false.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"
#include "runtime/sampling/TokenScores.h"

namespace talc {

struct BeamSettings {
  int32_t beams = 1;         // texts that are continued at the same time, and results that are kept
  double lengthPenalty = 1;  // a result's score is the sum of its scores divided by (new tokens ^ this)
  artifact::EarlyStopping earlyStopping = artifact::EarlyStopping::No;
  std::vector<int32_t> endTokens;
};

// A text that is finished.
struct BeamResult {
  double score;
  std::vector<int32_t> ids;  // new tokens, the end token included
};

// Beams are numbered from 0, the best first. Between two steps each beam is a text whose last token was chosen but not
// evaluated yet. Only `start` allocates.
class BeamSearch {
public:
  // `choosable`: ids that may be chosen, ascending; it must outlive the object.
  BeamSearch(const BeamSettings &settings, const std::vector<int32_t> &choosable);

  // Starts a search for at most `limit` tokens after a prompt; both are at least 1. There is one beam, the prompt.
  void start(const int32_t *prompt, size_t count, size_t limit);

  // `logits` has a row for each beam: those after its last token. Any number of searches may share `scratch`, which was
  // reserved for `scores`. Returns false when nothing can be chosen (all NaN or minus infinity): the search has ended.
  bool step(const float *const *logits, const TokenScores &scores, SamplingScratch &scratch);

  bool ended() const { return beamCount == 0; }
  // The number of beams to evaluate next; 0 once the search has ended.
  size_t beams() const { return beamCount; }
  // The beam of the previous step that a beam continues, and the token that it was continued with.
  size_t parent(size_t beam) const { return running[beam].parent; }
  const int32_t *token(size_t beam) const { return texts.data() + beam * lastLength + length - 1; }

  // Finished texts, the best first.
  size_t resultCount() const { return finished; }
  const BeamResult &result(size_t rank) const { return results[rank]; }

private:
  struct Candidate {
    double score;  // sum
    size_t parent;
    int32_t token;
  };

  bool isEnd(int32_t token) const;
  void collect(const float *const *logits, const TokenScores &scores, SamplingScratch &scratch);
  void offer(const Candidate &candidate);
  void finish(const Candidate &candidate);
  void continueWith(const Candidate *chosen, size_t count);
  bool canImprove() const;

  const BeamSettings settings;
  const std::vector<int32_t> &choosable;
  const size_t mostCandidates;
  size_t promptLength = 0, length = 0, lastLength = 0;  // tokens of the prompt, of a beam, of the longest text
  size_t beamCount = 0, finished = 0;
  std::vector<int32_t> texts, nextTexts;  // [beams][lastLength]
  std::vector<Candidate> running;         // [beams]
  std::vector<Candidate> candidates;      // the best ones of a step, in order
  std::vector<BeamResult> results;        // [beams], the first `finished` are there
};

}  // namespace talc
