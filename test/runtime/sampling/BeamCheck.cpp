// SPDX-License-Identifier: Apache-2.0
// FILE: runs the beam searches of a file over its tables of logits and prints every result; beam_search.py judges them.
#include "runtime/sampling/BeamSearch.h"
#include "runtime/sampling/LikelyTokens.h"
#include "runtime/sampling/Logarithm.h"
#include "test/runtime/RuntimeChecks.h"

#include <cmath>
#include <cstdio>
#include <fstream>
#include <numeric>

namespace talc::test {
namespace {

// A "model" whose logits depend on a state, which follows from the state before and the token.
struct Table {
  size_t vocabulary = 0, states = 0;
  std::vector<float> logits;      // [states][vocabulary]
  std::vector<size_t> nextState;  // [states][vocabulary]

  size_t next(size_t state, int32_t token) const { return nextState[state * vocabulary + token]; }
};

template <typename T> std::vector<T> readList(std::istream &input, size_t count) {
  std::vector<T> values(count);
  for (T &value : values)
    input >> value;
  return values;
}

template <typename T> std::vector<T> readList(std::istream &input) {
  size_t count = 0;
  input >> count;
  return readList<T>(input, count);
}

struct Case {
  BeamSettings settings;
  ScoreSettings scores;
  LogitsProcessors rules;
  std::vector<int32_t> prompt;
  size_t limit = 0;
  Table table;
};

bool readCase(std::istream &input, Case &test) {
  uint32_t early = 0;
  if (!(input >> test.settings.beams >> test.settings.lengthPenalty >> early))
    return false;
  test.settings.earlyStopping = static_cast<artifact::EarlyStopping>(early);
  input >> test.rules.noRepeatNgram >> test.scores.repetitionPenalty >> test.rules.forcedBegin >> test.rules.forcedEnd;
  input >> test.scores.renormalize >> test.rules.minLength >> test.rules.minNewTokens >> test.limit;
  test.settings.endTokens = test.rules.endTokens = readList<int32_t>(input);
  test.rules.suppressed = readList<int32_t>(input);
  test.rules.beginSuppressed = readList<int32_t>(input);
  test.rules.forbidden = readList<int32_t>(input);
  test.prompt = readList<int32_t>(input);
  input >> test.table.vocabulary >> test.table.states;
  test.scores.vocabulary = test.table.vocabulary;
  test.table.logits = readList<float>(input, test.table.states * test.table.vocabulary);
  test.table.nextState = readList<size_t>(input, test.table.states * test.table.vocabulary);
  return static_cast<bool>(input);
}

void search(const Case &test) {
  const Table &table = test.table;
  std::vector<int32_t> choosable(table.vocabulary);
  std::iota(choosable.begin(), choosable.end(), 0);
  BeamSearch search(test.settings, choosable);
  TokenScores scores(test.scores, test.rules);
  SamplingScratch scratch;
  scores.reserve(scratch);
  search.start(test.prompt.data(), test.prompt.size(), test.limit);
  std::vector<size_t> states(1, 0);
  for (int32_t token : test.prompt)
    states[0] = table.next(states[0], token);
  while (!search.ended()) {
    std::vector<const float *> rows;
    for (size_t state : states)
      rows.push_back(table.logits.data() + state * table.vocabulary);
    search.step(rows.data(), scores, scratch);
    std::vector<size_t> next;
    for (size_t beam = 0; beam < search.beams(); ++beam)
      next.push_back(table.next(states[search.parent(beam)], *search.token(beam)));
    states = next;
  }
  for (size_t rank = 0; rank < search.resultCount(); ++rank) {
    printf("%.17g", search.result(rank).score);
    for (int32_t id : search.result(rank).ids)
      printf(" %d", id);
    printf("\n");
  }
  printf("\n");
}

bool near(double value, double expected) {
  return std::fabs(value - expected) <= 1e-13 * std::fabs(expected);
}

bool checkMathematics() {
  bool good = true;
  for (double x : {1.0, 1.5, 2.0, 1e-3, 3e-300, 1e10, 0.7071067811865475, 58101.25})
    good &= near(deterministicLog(x), std::log(x)) || x == 1.0;
  for (double base : {1.0, 2.0, 7.0, 511.0})
    for (double exponent : {-2.0, -0.5, 0.0, 0.6, 1.0, 1.3, 3.0})
      good &= near(deterministicPower(base, exponent), std::pow(base, exponent));
  std::vector<float> values;
  for (int i = 0; i < 1003; ++i)
    values.push_back(float((i * 37) % 101) / 3 - (i % 7 == 0 ? 500.0f : 0.0f));
  values[5] = NAN, values[77] = -HUGE_VALF;
  double sum = 0, highest = highestValue(values.data(), values.size());
  for (float value : values)
    sum += std::isnan(value) ? 0 : std::exp(value - highest);
  good &= near(logSumExp(values.data(), values.size(), highest), std::log(sum));
  return expect(good && deterministicLog(1) == 0, "logarithms, powers and sums of exponentials");
}

// Logits that the file of cases cannot hold: NaN, infinity, and rows that leave nothing to choose.
bool checkHostileLogits() {
  std::vector<int32_t> choosable = {0, 1, 2};
  TokenScores scores({3}, {});
  SamplingScratch scratch;
  scores.reserve(scratch);
  BeamSettings settings;
  settings.beams = 2;
  int32_t prompt = 0;
  BeamSearch search(settings, choosable);
  const float nothing[] = {NAN, -HUGE_VALF, NAN}, one[] = {NAN, 1, -HUGE_VALF}, sure[] = {0, 1, HUGE_VALF};
  const float *row = nothing;
  search.start(&prompt, 1, 2);
  bool good =
      expect(!search.step(&row, scores, scratch) && search.ended() && search.resultCount() == 0, "nothing to choose");
  row = one;
  search.start(&prompt, 1, 2);
  good &=
      expect(search.step(&row, scores, scratch) && search.beams() == 1 && *search.token(0) == 1, "one token to choose");
  row = sure;
  good &= expect(search.step(&row, scores, scratch) && search.ended() && search.result(0).ids.back() == 2 &&
                     search.result(0).score == 0,
                 "an infinite logit");
  return good;
}

}  // namespace

bool checkBeams(const Arguments &arguments) {
  std::ifstream input(arguments.at(0));
  for (Case test; readCase(input, test);)
    search(test);
  return checkMathematics() && checkHostileLogits();
}

}  // namespace talc::test
