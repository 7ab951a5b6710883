// SPDX-License-Identifier: Apache-2.0
// tune-check: what talc tune concludes from times that are made up: noise, disturbances, code that is faster or not.
#include "tools/talc/tune/Comparison.h"
#include "tools/talc/tune/ShellWord.h"

#include <cstdint>
#include <cstdio>

namespace talc::tools {
namespace {

int failures = 0;

void expect(bool condition, const char *what) {
  if (!condition) {
    fprintf(stderr, "tune-check: %s\n", what);
    ++failures;
  }
}

// Values around `middle`, `noise` of it to each side.
class Clock {
public:
  explicit Clock(uint64_t seed) : state(seed) {}

  Seconds times(double middle, double noise, size_t rounds = 24) {
    Seconds result;
    for (size_t i = 0; i < rounds; ++i) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      double uniform = static_cast<double>(state >> 11) / static_cast<double>(uint64_t(1) << 53);
      result.push_back(middle * (1 + noise * (2 * uniform - 1)));
    }
    return result;
  }

private:
  uint64_t state;
};

void checkIntervals() {
  expect(medianInterval({1, 2, 3, 4, 5}).high > 1e9, "five values say where a median lies");
  Interval six = medianInterval({6, 1, 5, 2, 4, 3});
  expect(six.low == 1 && six.middle == 3.5 && six.high == 6, "the interval of six values");
  Seconds many;
  for (int i = 1; i <= 24; ++i)
    many.push_back(i);
  expect(medianInterval(many).low == 7 && medianInterval(many).high == 18, "the interval of 24 values");
}

// Counts in how many of a thousand comparisons code is called faster.
int calledFaster(double changed, double noise, double again = 1) {
  int count = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Clock clock(seed * 977 + 1);
    Seconds once = clock.times(1, noise), twice = clock.times(again, noise), other = clock.times(changed, noise);
    count += compare(once, twice, other).faster;
  }
  return count;
}

void checkComparison() {
  expect(calledFaster(1, 0.1) <= 5, "equal code is faster");
  expect(calledFaster(0.95, 0.02) >= 990, "five percent are not seen in noise of two");
  expect(calledFaster(0.97, 0.1) <= 50, "three percent are believed in noise of ten");
  expect(calledFaster(0.98, 0.001, 1.05) == 0, "two percent are believed where equal code differs by five");
  Clock clock(7);
  Seconds once = clock.times(1, 0.01), again = clock.times(1, 0.01), changed = clock.times(0.9, 0.01);
  for (size_t i = 0; i < 5; ++i)
    changed[i * 3] *= 10;
  Comparison compared = compare(once, again, changed);
  expect(compared.faster && compared.ratio < 0.95, "some disturbances hide ten percent");
  expect(compare(once, again, clock.times(1.1, 0.01)).slower, "ten percent more are not slower");
  expect(!compare({1}, {1}, {0.5}).faster && !compare({}, {}, {}).faster, "a single round says something");
}

// Times of a step whose kernels `a` and `b` take 1 each and which takes 3; with the plans these become `a`, `b` and
// `total`.
StepTimes step(const char *name, const char *phase, double a, double b, double total, double noise = 0.002) {
  Clock clock(static_cast<uint64_t>(name[0]));
  auto codes = [&](double middle, double changed) {
    return std::vector<Seconds>{clock.times(middle, noise), clock.times(middle, noise), clock.times(changed, noise)};
  };
  return {name, phase, codes(3, total), {{"a", codes(1, a)}, {"b", codes(1, b)}}};
}

void checkConfirmation() {
  using Kernels = std::set<std::string>;
  auto dropped = [](const std::vector<StepTimes> &times, bool last = false) {
    return confirmPlans(times, {"a", "b"}, last).dropped;
  };
  expect(dropped({step("8", "prefill", 0.9, 0.8, 2.7)}).empty(), "what wins is dropped");
  expect(dropped({step("8", "prefill", 0.9, 1, 2.9)}) == Kernels{"b"}, "what does not win stays");
  expect(dropped({step("8", "prefill", 0.9, 0.8, 2.7), step("32", "prefill", 1.1, 0.8, 2.9)}) == Kernels{"a"},
         "what loses in some kind of step stays");
  expect(dropped({step("8", "prefill", 0.9, 0.8, 3)}) == Kernels{"a"},
         "of steps that win nothing the better half stays");
  expect(dropped({step("8", "prefill", 0.9, 0.8, 3)}, true).size() == 2,
         "the last time something stays that wins nothing");
  expect(dropped({step("8", "prefill", 0.9, 1, 3)}, true).size() == 2, "the last time the rest stays unmeasured");
  expect(dropped({step("8", "prefill", 0.9, 0.8, 2.7), step("32", "prefill", 0.9, 0.8, 3.1)}).size() == 1,
         "one kind of steps may be slower");
  expect(dropped({step("8", "prefill", 0.9, 0.8, 2.7, 0.3)}).size() == 2, "noise confirms plans");
  // Each phase for itself.
  StepTimes decode = step("1", "decode", 0.9, 0.8, 3);
  decode.kernels.erase("a");
  StepTimes prefill = step("8", "prefill", 0.9, 0.8, 2.7);
  prefill.kernels.erase("b");
  expect(dropped({decode, prefill}) == Kernels{"b"}, "a phase decides about another one's plans");
  expect(confirmPlans({decode}, {"a"}, false).dropped == Kernels{"a"}, "a kernel that was not measured stays");
}

void checkWords() {
  expect(shellWord("--weights=q4_k") == "--weights=q4_k", "a harmless word is quoted");
  expect(shellWord("") == "''" && shellWord("a b") == "'a b'" && shellWord("$(x)`y`") == "'$(x)`y`'",
         "words in quotes");
  expect(shellWord("it's") == "'it'\\''s'", "a quote in a word");
  expect(shellWord("~/m") == "'~/m'" && shellWord("#m") == "'#m'" && shellWord("!m") == "'!m'",
         "signs that a shell expands");
  expect(shellWord("a\n\x1b[2J'\\") == "$'a\\x0a\\x1b[2J\\'\\\\'", "control characters");
}

}  // namespace
}  // namespace talc::tools

int main() {
  using namespace talc::tools;
  checkIntervals();
  checkComparison();
  checkConfirmation();
  checkWords();
  return failures > 0 ? 1 : 0;
}
