// SPDX-License-Identifier: Apache-2.0
// Beam search: candidates, finished texts, and when to stop.
//
// One step, with B beams and E end tokens:
//
//   candidates = the best max(2, 1 + E) * B of all (beam, token), by the beam's sum plus the token's score
//   finished  += those of the best B candidates that end, with the score sum / (new tokens, end token included) ^
//   penalty beams      = the best B candidates that do not end
//
// A candidate ends with an end token, or when the text has reached its limit. The best B finished texts are kept. Equal
// scores are ordered by beam, then by token; of finished texts the earlier one stays first. The search ends when no
// beam is left, or B texts are finished and
//
//   early stopping   yes: at once
//                    no: the best beam's sum / (its new tokens) ^ penalty is not above the worst finished score
//                    never: the same with the longest possible text, if the penalty is above 0
//
// Source: transformers 4.50 and later, generation/utils.py (_beam_search and the functions it calls). There a beam that
// does not exist is a beam with the score -1e9; here it does not exist.
#include "runtime/sampling/BeamSearch.h"

#include "runtime/sampling/Logarithm.h"

#include <algorithm>
#include <cmath>

namespace talc {

BeamSearch::BeamSearch(const BeamSettings &settings, const std::vector<int32_t> &choosable)
    : settings(settings), choosable(choosable),
      mostCandidates(std::max<size_t>(2, 1 + settings.endTokens.size()) * settings.beams), running(settings.beams),
      results(settings.beams) {
  candidates.reserve(mostCandidates + 1);
}

void BeamSearch::start(const int32_t *prompt, size_t count, size_t limit) {
  promptLength = length = count;
  lastLength = count + limit;
  texts.resize(settings.beams * lastLength);
  nextTexts.resize(texts.size());
  for (BeamResult &result : results)
    result.ids.reserve(limit);
  std::copy(prompt, prompt + count, texts.begin());
  running[0] = {0, 0, prompt[count - 1]};
  beamCount = 1;
  finished = 0;
}

bool BeamSearch::step(const float *const *logits, const TokenScores &scores, SamplingScratch &scratch) {
  collect(logits, scores, scratch);
  bool last = length + 1 == lastLength;
  size_t beams = settings.beams, kept = 0;
  for (size_t rank = 0; rank < candidates.size(); ++rank) {
    bool ends = last || isEnd(candidates[rank].token);
    if (ends && rank < beams)
      finish(candidates[rank]);
    else if (!ends && kept < beams)
      candidates[kept++] = candidates[rank];
  }
  bool hasCandidates = !candidates.empty();
  continueWith(candidates.data(), kept);
  bool stops = finished == beams && (settings.earlyStopping == artifact::EarlyStopping::Yes || !canImprove());
  if (stops)
    beamCount = 0;
  return hasCandidates;
}

bool BeamSearch::isEnd(int32_t token) const {
  return std::find(settings.endTokens.begin(), settings.endTokens.end(), token) != settings.endTokens.end();
}

void BeamSearch::collect(const float *const *logits, const TokenScores &scores, SamplingScratch &scratch) {
  candidates.clear();
  for (size_t beam = 0; beam < beamCount; ++beam) {
    const double *row = scores.compute(
        logits[beam], {texts.data() + beam * lastLength, length, promptLength, length + 1 == lastLength}, scratch);
    double sum = running[beam].score;
    for (int32_t id : choosable) {
      double lowest = candidates.size() < mostCandidates ? -HUGE_VAL : candidates.back().score;
      if (sum + row[id] > lowest)  // false for NaN
        offer({sum + row[id], beam, id});
    }
  }
}

// Candidates come in the order of beams and tokens: of equal ones the earlier stays first.
void BeamSearch::offer(const Candidate &candidate) {
  auto later = [](const Candidate &a, const Candidate &b) { return a.score > b.score; };
  candidates.insert(std::upper_bound(candidates.begin(), candidates.end(), candidate, later), candidate);
  if (candidates.size() > mostCandidates)
    candidates.pop_back();
}

void BeamSearch::finish(const Candidate &candidate) {
  auto newTokens = static_cast<double>(length + 1 - promptLength);
  double score = candidate.score / deterministicPower(newTokens, settings.lengthPenalty);
  if (finished == results.size() && !(score > results.back().score))
    return;
  finished = std::min(finished + 1, results.size());
  BeamResult &last = results[finished - 1];  // free, or the worst
  const int32_t *text = texts.data() + candidate.parent * lastLength;
  last.score = score;
  last.ids.assign(text + promptLength, text + length);
  last.ids.push_back(candidate.token);
  for (size_t rank = finished - 1; rank > 0 && results[rank].score > results[rank - 1].score; --rank)
    std::swap(results[rank], results[rank - 1]);
}

void BeamSearch::continueWith(const Candidate *chosen, size_t count) {
  for (size_t beam = 0; beam < count; ++beam) {
    const int32_t *text = texts.data() + chosen[beam].parent * lastLength;
    int32_t *target = nextTexts.data() + beam * lastLength;
    std::copy(text, text + length, target);
    target[length] = chosen[beam].token;
    running[beam] = chosen[beam];
  }
  texts.swap(nextTexts);
  beamCount = count;
  ++length;
}

bool BeamSearch::canImprove() const {
  if (beamCount == 0)
    return false;
  bool longest = settings.earlyStopping == artifact::EarlyStopping::Never && settings.lengthPenalty > 0;
  auto newTokens = static_cast<double>((longest ? lastLength : length) - promptLength);
  return running[0].score / deterministicPower(newTokens, settings.lengthPenalty) > results.back().score;
}

}  // namespace talc
