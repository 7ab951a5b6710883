// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: filters, ties, rules, NaN, padding and reproducibility of the sampler. 260 ids, of which the tokenizer has
// 257.
#include "runtime/sampling/ModelSettings.h"
#include "runtime/sampling/Sampler.h"
#include "test/runtime/FakeSession.h"
#include "test/runtime/RuntimeChecks.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>
#include <set>

namespace talc::test {
namespace {

using Logits = std::vector<float>;
constexpr talc_sampling greedy = {0, 0, 1, 0, 1, 0};

// The tokens that `count` draws from the same logits give.
std::vector<int32_t> draw(const FakeSession &fake, talc_sampling sampling, const Logits &logits, int count,
                          bool forget = false) {
  std::vector<int32_t> result;
  talc_sampler *sampler = nullptr;
  talc_sampler_create(fake.session, &sampling, nullptr, 0, &sampler, nullptr);
  for (int i = 0; i < count; ++i) {
    int32_t id = -1;
    if (talc_sample(sampler, logits.data(), &id, nullptr) != TALC_OK)
      id = -1;
    result.push_back(id);
    if (forget) {
      talc_sampler_destroy(sampler);
      ++sampling.seed;
      talc_sampler_create(fake.session, &sampling, nullptr, 0, &sampler, nullptr);
    }
  }
  talc_sampler_destroy(sampler);
  return result;
}

std::map<int32_t, int> histogram(const FakeSession &fake, talc_sampling sampling, const Logits &logits, int count) {
  std::map<int32_t, int> result;
  for (int32_t id : draw(fake, sampling, logits, count))
    ++result[id];
  return result;
}

// The token that is drawn after a text.
int32_t drawAfter(const FakeSession &fake, const talc_sampling &sampling, const std::vector<int32_t> &text,
                  const Logits &logits) {
  talc_sampler *sampler = nullptr;
  talc_sampler_create(fake.session, &sampling, nullptr, 0, &sampler, nullptr);
  talc_sampler_accept(sampler, text.data(), static_cast<int32_t>(text.size()), nullptr);
  int32_t id = -1;
  talc_sample(sampler, logits.data(), &id, nullptr);
  talc_sampler_destroy(sampler);
  return id;
}

bool checkGreedy(const FakeSession &fake) {
  Logits logits(260, 0);
  logits[258] = 100;  // padding
  logits[30] = logits[20] = 5;
  logits[3] = NAN;
  bool good = expect(draw(fake, greedy, logits, 1)[0] == 20, "greedy takes the lowest of equal ids");
  logits[40] = HUGE_VALF;
  good &= expect(draw(fake, {1, 0, 1, 0, 1, 3}, logits, 1)[0] == 40, "infinity");
  good &= expect(draw(fake, greedy, Logits(260, NAN), 1)[0] == -1, "all NaN");
  good &= expect(draw(fake, greedy, Logits(260, -HUGE_VALF), 1)[0] == -1, "all minus infinity");
  Logits repeated(260, -1);
  repeated[10] = 2, repeated[11] = 1.5f;
  good &= expect(draw(fake, {0, 0, 1, 0, 2, 0}, repeated, 3) == std::vector<int32_t>{10, 11, 10}, "repeat penalty");
  return good;
}

// Probabilities 0.5, 0.3, 0.15, 0.05 of ids 4, 3, 2, 1.
bool checkFilters(const FakeSession &fake) {
  Logits logits(260, -HUGE_VALF);
  logits[4] = std::log(0.5f), logits[3] = std::log(0.3f), logits[2] = std::log(0.15f), logits[1] = std::log(0.05f);
  constexpr int draws = 4000;
  auto count = [&](talc_sampling s) { return histogram(fake, s, logits, draws).size(); };
  auto all = histogram(fake, {1, 0, 1, 0, 1, 1}, logits, draws);
  bool good = expect(all.size() == 4 && std::abs(all[4] - 2000) < 150 && std::abs(all[1] - 200) < 60, "frequencies");
  good &= expect(count({1, 1, 1, 0, 1, 1}) == 1, "top-k 1") && expect(count({1, 3, 1, 0, 1, 1}) == 3, "top-k 3");
  good &= expect(count({1, 0, 0.4f, 0, 1, 1}) == 1, "top-p 0.4") &&
          expect(count({1, 0, 0.79f, 0, 1, 1}) == 2, "top-p 0.79");
  good &= expect(count({1, 0, 0.81f, 0, 1, 1}) == 3, "top-p 0.81");
  good &= expect(count({1, 2, 0.6f, 0, 1, 1}) == 1, "top-p counts within top-k");
  good &= expect(count({1, 0, 1, 0.25f, 1, 1}) == 3, "min-p 0.25") && expect(count({1, 0, 1, 1, 1, 1}) == 1, "min-p 1");
  // Their information is 0.69, 1.20, 1.90 and 3.00; 1.14 is expected.
  good &= expect(histogram(fake, {1, 0, 1, 0, 1, 1, 0.2f}, logits, 100) == std::map<int32_t, int>{{3, 100}}, "typical");
  good &= expect(count({1, 0, 1, 0, 1, 1, 0.79f}) == 2 && count({1, 0, 1, 0, 1, 1, 0.81f}) == 3, "typical-p") &&
          expect(count({1, 0, 1, 0, 1, 1, 1}) == 4 && count({1, 2, 1, 0, 1, 1, 0.9f}) == 2, "typical-p after top-k");
  good &= expect(count({100, 0, 1, 0, 1, 1}) == 4 && count({0.01f, 0, 1, 0, 1, 1}) == 1, "temperature");
  return good;
}

// Applies a penalty of 2, which is exact, to tokens of a text, and forbids all but the `count` likeliest.
Logits keepLikeliest(Logits logits, const std::set<int32_t> &text, size_t count) {
  for (int32_t id : text)
    logits[id] = logits[id] > 0 ? logits[id] / 2 : logits[id] * 2;
  logits.resize(257);  // the tokenizer's
  std::vector<int32_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int32_t a, int32_t b) { return std::pair(-logits[a], a) < std::pair(-logits[b], b); });
  std::for_each(order.begin() + static_cast<ptrdiff_t>(count), order.end(),
                [&](int32_t id) { logits[id] = -HUGE_VALF; });
  logits.resize(260, -HUGE_VALF);
  return logits;
}

// Top-k looks at a few blocks of the vocabulary; with as many as the vocabulary has, at all.
bool checkLikeliest(const FakeSession &fake) {
  bool good = true;
  Random random(5);
  for (uint64_t round = 0; round < 60; ++round) {
    Logits logits(260);
    for (float &logit : logits)  // with ties
      logit = static_cast<float>(static_cast<int>(random.uniform() * 40) - 25) / 4;
    logits[round] = -HUGE_VALF;
    auto k = static_cast<int32_t>(1 + round % 6);
    std::vector<int32_t> text;
    if (round % 2 == 1)
      text = {3, 250, static_cast<int32_t>(round), 3, 258, 100};
    talc_sampling few = {2, k, 1, 0, text.empty() ? 1.0f : 2.0f, round}, whole = {2, 260, 1, 0, 1, round};
    const Logits kept = keepLikeliest(logits, {text.begin(), text.end()}, k);
    good &= drawAfter(fake, few, text, logits) == drawAfter(fake, whole, {}, kept);
  }
  return expect(good, "top-k of blocks");
}

// Greedy tokens of these logits, one after another, by a sampler that `prepare` has changed.
template <typename Prepare>
std::vector<int32_t> chooseGreedily(const FakeSession &fake, talc_sampling sampling, const Logits &logits,
                                    Prepare prepare) {
  sampling.temperature = 0;
  talc_sampler *sampler = nullptr;
  talc_sampler_create(fake.session, &sampling, nullptr, 0, &sampler, nullptr);
  prepare(sampler);
  std::vector<int32_t> ids(4);
  for (int32_t &id : ids)
    if (talc_sample(sampler, logits.data(), &id, nullptr) != TALC_OK)
      id = -1;
  talc_sampler_destroy(sampler);
  return ids;
}

bool checkNewPenalties(const FakeSession &fake) {
  using Ids = std::vector<int32_t>;
  Logits logits(260, -1);
  logits[10] = 2, logits[11] = 1.5f, logits[12] = 0.75f;
  const int32_t beginning[] = {10, 10};
  auto accept = [&](talc_sampler *sampler) { talc_sampler_accept(sampler, beginning, 2, nullptr); };
  talc_sampling presence = {0, 0, 1, 0, 1, 0, 1, 1}, frequency = {0, 0, 1, 0, 1, 0, 1, 0, 1}, both = frequency;
  both.repetition_penalty = 4;
  talc_sampling wrong = presence;
  wrong.frequency_penalty = NAN;
  talc_sampler *none = nullptr;
  bool good = expect(chooseGreedily(fake, presence, logits, accept) == Ids{10, 11, 10, 10}, "presence, once");
  good &= expect(chooseGreedily(fake, frequency, logits, accept) == Ids{10, 11, 10, 12}, "frequency, each time");
  good &= expect(chooseGreedily(fake, both, logits, accept) == Ids{11, 12, 10, 10}, "frequency behind repetition");
  return expect(talc_sampler_create(fake.session, &wrong, nullptr, 0, &none, nullptr) == TALC_ERROR_ARGUMENT, "NaN") &&
         good;
}

bool checkBiases(const FakeSession &fake) {
  using Ids = std::vector<int32_t>;
  Logits logits(260, 0);
  logits[10] = 2;
  const talc_logit_bias biases[] = {{12, 1.5f}, {12, 1}, {10, -HUGE_VALF}, {13, 2.25f}}, unknown = {260, 1},
                        infinite = {1, HUGE_VALF};
  auto bias = [&](int32_t count) {
    return [&biases, count](talc_sampler *sampler) { talc_sampler_bias(sampler, biases, count, nullptr); };
  };
  bool good = expect(chooseGreedily(fake, greedy, logits, bias(1)) == Ids(4, 10), "a bias that is not enough");
  good &= expect(chooseGreedily(fake, greedy, logits, bias(2)) == Ids(4, 12), "biases add up");
  good &= expect(chooseGreedily(fake, greedy, logits, bias(4)) == Ids(4, 12), "minus infinity");
  chooseGreedily(fake, greedy, logits, [&](talc_sampler *sampler) {
    good &= expect(talc_sampler_bias(sampler, &unknown, 1, nullptr) == TALC_ERROR_TOKEN, "a bias of no token");
    good &= expect(talc_sampler_bias(sampler, &infinite, 1, nullptr) == TALC_ERROR_ARGUMENT, "an infinite bias");
  });
  return good;
}

// A mask gives what logits of minus infinity give.
bool checkMask(const FakeSession &fake) {
  bool good = true;
  Random random(11);
  for (uint64_t round = 0; round < 80; ++round) {
    uint32_t bits[9] = {};
    Logits logits(260), masked(260, -HUGE_VALF);
    for (int32_t id = 0; id < 260; ++id) {
      logits[id] = static_cast<float>(random.uniform() * 4);
      if (random.uniform() < (round % 2 ? 0.9 : 0.1)) {
        bits[id / 32] |= 1u << (id % 32);
        masked[id] = logits[id];
      }
    }
    const talc_sampling sampling = {
        round % 3 ? 1.0f : 0.0f, static_cast<int32_t>(round % 4 * 5), 1, 0, round % 5 ? 1.0f : 2.0f, round};
    talc_sampler *sampler = nullptr;
    const std::vector<int32_t> text = {7, 100, 200};
    talc_sampler_create(fake.session, &sampling, nullptr, 0, &sampler, nullptr);
    talc_sampler_accept(sampler, text.data(), 3, nullptr);
    good &= expect(talc_sampler_allow(sampler, bits, 8, nullptr) == TALC_ERROR_ARGUMENT, "too few words of bits");
    int32_t id = -1;
    if (talc_sampler_allow(sampler, bits, 9, nullptr) != TALC_OK ||
        talc_sample(sampler, logits.data(), &id, nullptr) != TALC_OK)
      id = -1;
    good &= id == drawAfter(fake, sampling, text, masked);
    std::fill(bits, bits + 9, 0);
    good &= expect(talc_sample(sampler, logits.data(), &id, nullptr) == TALC_ERROR_LOGITS, "an empty mask");
    talc_sampler_allow(sampler, nullptr, 0, nullptr);
    good &= talc_sample(sampler, logits.data(), &id, nullptr) == TALC_OK;
    talc_sampler_destroy(sampler);
  }
  return expect(good, "masks");
}

// Golden values: they may never change, on no machine.
bool checkSeeds(const FakeSession &fake) {
  Logits logits(260);
  for (int i = 0; i < 260; ++i)
    logits[i] = float((i * 37) % 101) / 20;
  const talc_sampling sampling = {0.8f, 50, 0.9f, 0.01f, 1.1f, 42};
  std::vector<int32_t> ids = draw(fake, sampling, logits, 8), again = draw(fake, sampling, logits, 8);
  std::string text;
  for (int32_t id : ids)
    text += std::to_string(id) + " ";
  bool good = expect(ids == again, "the same seed gives the same tokens");
  good &= expect(text == "128 161 120 251 30 218 19 188 ", "tokens of seed 42: " + text);
  talc_sampling other = sampling;
  other.seed = 43;
  good &= expect(draw(fake, other, logits, 8) != ids, "another seed gives others");
  for (int32_t id : draw(fake, {1, 0, 1, 0, 1, 0}, logits, 2000, true))
    good &= id >= 0 && id <= 256;
  return expect(good, "only ids that the tokenizer has");
}

// The tokens that follow `beginning` until the text has `length`, always of logits that fall with the id.
std::vector<int32_t> follow(const FakeSession &fake, const talc_search &rules, std::vector<int32_t> beginning,
                            int32_t length) {
  Logits logits(260);
  for (int i = 0; i < 260; ++i)
    logits[i] = float(-i);
  talc_sampler *sampler = nullptr;
  talc_sampler_create(fake.session, &greedy, &rules, length, &sampler, nullptr);
  talc_sampler_accept(sampler, beginning.data(), static_cast<int32_t>(beginning.size()), nullptr);
  std::vector<int32_t> result;
  for (int32_t id = 0; static_cast<int32_t>(beginning.size() + result.size()) < length; result.push_back(id))
    talc_sample(sampler, logits.data(), &id, nullptr);
  talc_sampler_destroy(sampler);
  return result;
}

bool checkRules(const FakeSession &fake) {
  using Ids = std::vector<int32_t>;
  talc_model_info info = {};
  talc_model_get_info(fake.model, &info, nullptr);
  const talc_search none = info.search;
  talc_search rules = none;
  bool good = expect(follow(fake, none, {7, 8}, 5) == Ids{0, 0, 0}, "no rules");
  rules.forced_begin = 9, rules.forced_end = 5;
  good &= expect(follow(fake, rules, {7}, 4) == Ids{9, 0, 5}, "forced tokens");
  good &= expect(follow(fake, rules, {7, 8}, 4) == Ids{0, 5}, "nothing is forced behind two tokens");
  good &= expect(follow(fake, rules, {7}, 2) == Ids{5}, "the end is forced, rather than the begin");
  const int32_t first[] = {0, 1}, groups[] = {2, 2, 0, 2, 1, 0};
  rules.begin_suppressed = first, rules.begin_suppressed_count = 2;
  good &= expect(follow(fake, rules, {7}, 5) == Ids{9, 2, 0, 5}, "not behind a forced token");
  good &= expect(follow(fake, rules, {7, 8}, 5) == Ids{2, 0, 5}, "not behind the beginning");
  rules.forbidden = groups, rules.forbidden_count = 6;
  good &= expect(follow(fake, rules, {7, 8}, 6) == Ids{2, 1, 1, 5}, "groups that may not occur");
  rules = none;
  rules.no_repeat_ngram = 2;
  good &= expect(follow(fake, rules, {7}, 7) == Ids{0, 0, 1, 0, 2, 0}, "groups occur once");
  rules = none;
  rules.suppressed_tokens = first, rules.suppressed_token_count = 2;
  good &= expect(follow(fake, rules, {7}, 3) == Ids{2, 2}, "suppressed tokens");
  for (int32_t end = 0; end < 260; ++end)
    if (talc_is_end_token(fake.model, end)) {
      rules = none;
      rules.suppressed_tokens = nullptr, rules.suppressed_token_count = 0;
      rules.min_new_tokens = 2;
      Logits logits(260);
      logits[end] = 1;
      talc_sampler *sampler = nullptr;
      talc_sampler_create(fake.session, &greedy, &rules, 0, &sampler, nullptr);
      talc_sampler_accept(sampler, first, 2, nullptr);
      int32_t ids[3];
      for (int32_t &id : ids)
        talc_sample(sampler, logits.data(), &id, nullptr);
      talc_sampler_destroy(sampler);
      good &= expect(ids[0] != end && ids[1] != end && ids[2] == end, "two tokens before an end");
    }
  return good;
}

bool checkWrongRules(const FakeSession &fake) {
  talc_model_info info = {};
  talc_model_get_info(fake.model, &info, nullptr);
  const int32_t ids[] = {260, 1};
  std::vector<talc_search> wrong(7, info.search);
  wrong[0].forced_begin = 260, wrong[1].forced_end = -3, wrong[2].no_repeat_ngram = -2, wrong[3].min_length = -2;
  wrong[4].suppressed_tokens = ids, wrong[4].suppressed_token_count = 1;
  wrong[5].begin_suppressed = nullptr, wrong[5].begin_suppressed_count = 1;
  wrong[6].forbidden = ids, wrong[6].forbidden_count = 2;
  bool good = true;
  for (const talc_search &rules : wrong) {
    talc_sampler *sampler = nullptr;
    good &= talc_sampler_create(fake.session, nullptr, &rules, 0, &sampler, nullptr) == TALC_ERROR_ARGUMENT && !sampler;
  }
  talc_sampler *sampler = nullptr;
  good &= talc_sampler_create(fake.session, nullptr, nullptr, -1, &sampler, nullptr) == TALC_ERROR_ARGUMENT && !sampler;
  return expect(good, "wrong rules are refused");
}

bool checkSettings(const FakeSession &fake) {
  const talc_sampling wrong[] = {{-2, 0, 1, 0, 1, 0},    {NAN, 0, 1, 0, 1, 0},  {1, -2, 1, 0, 1, 0},
                                 {1, 0, -2, 0, 1, 0},    {1, 0, 1.5f, 0, 1, 0}, {1, 0, NAN, 0, 1, 0},
                                 {1, 0, 1, -0.1f, 1, 0}, {1, 0, 1, 0, -2, 0},   {1, 0, 1, 0, NAN, 0}};
  bool good = true;
  for (const talc_sampling &sampling : wrong) {
    talc_sampler *sampler = nullptr;
    good &=
        talc_sampler_create(fake.session, &sampling, nullptr, 0, &sampler, nullptr) == TALC_ERROR_ARGUMENT && !sampler;
  }
  return expect(good, "wrong settings are refused");
}

// ARTIFACT: the tokens 20 and 30 are suppressed.
bool checkSuppressed(const std::string &path) {
  FakeSession fake(path, 1);
  if (!expect(fake.session, fake.error.text))
    return false;
  Logits logits(260, 0);
  logits[20] = logits[30] = 9, logits[25] = 5;
  bool good = expect(draw(fake, greedy, logits, 1)[0] == 25, "greedy takes no suppressed token");
  auto drawn = histogram(fake, {3, 0, 1, 0, 1, 5}, logits, 4000);
  good &= expect(drawn.count(20) + drawn.count(30) == 0 && drawn.size() > 200, "suppressed tokens are never drawn");
  return good;
}

// 0 is the model's default, TALC_NONE nothing.
bool checkDefaults() {
  artifact::ModelInfo info = {};
  info.generation = artifact::neutralSettings<artifact::StoredForm>();
  artifact::StoredSettings &own = info.generation;
  own.sample = 1, own.temperature = 0.7f, own.topK = 40, own.topP = 0.9f, own.minP = 0.1f, own.repetitionPenalty = 1.3f;
  own.beams = 4, own.lengthPenalty = 2, own.earlyStopping = 2, own.noRepeatNgram = 3, own.startToken = 7;
  own.forcedEnd = 8, own.minLength = 9, own.suppressed = {1, {5}};
  talc_sampling partial = {}, none = {TALC_NONE, TALC_NONE, TALC_NONE, TALC_NONE, TALC_NONE};
  partial.top_k = 12, partial.seed = 3;
  talc_sampling completed = completeSampling(&partial, info), plain = completeSampling(&none, info);
  bool good = expect(completed.temperature == 0.7f && completed.top_k == 12 && completed.top_p == 0.9f &&
                         completed.min_p == 0.1f && completed.repetition_penalty == 1.3f && completed.seed == 3,
                     "settings of sampling that are 0");
  good &= expect(plain.temperature == 0 && plain.top_k == 0 && plain.top_p == 1 && plain.min_p == 0 &&
                     plain.repetition_penalty == 1,
                 "settings of sampling that are none");
  talc_search rules = {}, without = {};
  rules.length_penalty = -1, rules.forced_begin = TALC_TOKEN_0;
  without.beams = without.early_stopping = without.no_repeat_ngram = without.start_token = without.forced_end =
      without.min_length = without.suppressed_token_count = TALC_NONE;
  talc_search all = completeSearch(&rules, info), bare = completeSearch(&without, info);
  good &= expect(all.beams == 4 && all.length_penalty == -1 && all.early_stopping == 2 && all.no_repeat_ngram == 3 &&
                     all.start_token == 7 && all.forced_end == 8 && all.min_length == 9 && all.forced_begin == 0 &&
                     all.suppressed_token_count == 1 && all.suppressed_tokens[0] == 5,
                 "rules that are 0");
  good &= expect(bare.beams == 1 && bare.length_penalty == 2 && bare.early_stopping == 0 && bare.no_repeat_ngram == 0 &&
                     bare.start_token == -1 && bare.forced_end == -1 && bare.min_length == 0 &&
                     bare.suppressed_token_count == 0,
                 "rules that are none");
  talc_search defaults = completeSearch(nullptr, info), again = completeSearch(&defaults, info);
  return expect(memcmp(&again, &defaults, sizeof(again)) == 0, "what talc_model_info says stays as it is") && good;
}

}  // namespace

bool checkSampler(const Arguments &arguments) {
  FakeSession fake(arguments.at(0), 1);
  if (!expect(fake.session, fake.error.text))
    return false;
  bool good = checkGreedy(fake) && checkFilters(fake) && checkLikeliest(fake) && checkNewPenalties(fake) &&
              checkBiases(fake) && checkMask(fake) && checkSeeds(fake) && checkSettings(fake) && checkRules(fake) &&
              checkWrongRules(fake) && checkDefaults();
  return good && checkSuppressed(arguments.at(1));
}

}  // namespace talc::test
