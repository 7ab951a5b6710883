// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: filters, ties, NaN, padding and reproducibility of the sampler. 260 ids, of which the tokenizer has 257.
#include "runtime/talc.h"
#include "test/runtime/RuntimeChecks.h"

#include <cmath>
#include <map>

namespace talc::test {
namespace {

using Logits = std::vector<float>;
constexpr talc_sampling greedy = {0, 0, 1, 0, 1, 0};

// The tokens that `count` draws from the same logits give.
std::vector<int32_t> draw(const talc_model *model, talc_sampling sampling, const Logits &logits, int count,
                          bool forget = false) {
  std::vector<int32_t> result;
  talc_sampler *sampler = nullptr;
  talc_sampler_create(model, &sampling, &sampler, nullptr);
  for (int i = 0; i < count; ++i) {
    int32_t id = -1;
    if (talc_sample(sampler, logits.data(), &id, nullptr) != TALC_OK)
      id = -1;
    result.push_back(id);
    if (forget) {
      talc_sampler_destroy(sampler);
      ++sampling.seed;
      talc_sampler_create(model, &sampling, &sampler, nullptr);
    }
  }
  talc_sampler_destroy(sampler);
  return result;
}

std::map<int32_t, int> histogram(const talc_model *model, talc_sampling sampling, const Logits &logits, int count) {
  std::map<int32_t, int> result;
  for (int32_t id : draw(model, sampling, logits, count))
    ++result[id];
  return result;
}

bool checkGreedy(const talc_model *model) {
  Logits logits(260, 0);
  logits[258] = 100;  // padding
  logits[30] = logits[20] = 5;
  logits[3] = NAN;
  bool good = expect(draw(model, greedy, logits, 1)[0] == 20, "greedy takes the lowest of equal ids");
  logits[40] = HUGE_VALF;
  good &= expect(draw(model, {1, 0, 1, 0, 1, 3}, logits, 1)[0] == 40, "infinity");
  good &= expect(draw(model, greedy, Logits(260, NAN), 1)[0] == -1, "all NaN");
  good &= expect(draw(model, greedy, Logits(260, -HUGE_VALF), 1)[0] == -1, "all minus infinity");
  Logits repeated(260, -1);
  repeated[10] = 2, repeated[11] = 1.5f;
  good &= expect(draw(model, {0, 0, 1, 0, 2, 0}, repeated, 3) == std::vector<int32_t>{10, 11, 10}, "repeat penalty");
  return good;
}

// Probabilities 0.5, 0.3, 0.15, 0.05 of ids 4, 3, 2, 1.
bool checkFilters(const talc_model *model) {
  Logits logits(260, -HUGE_VALF);
  logits[4] = std::log(0.5f), logits[3] = std::log(0.3f), logits[2] = std::log(0.15f), logits[1] = std::log(0.05f);
  constexpr int draws = 4000;
  auto count = [&](talc_sampling s) { return histogram(model, s, logits, draws).size(); };
  auto all = histogram(model, {1, 0, 1, 0, 1, 1}, logits, draws);
  bool good = expect(all.size() == 4 && std::abs(all[4] - 2000) < 150 && std::abs(all[1] - 200) < 60, "frequencies");
  good &= expect(count({1, 1, 1, 0, 1, 1}) == 1, "top-k 1") && expect(count({1, 3, 1, 0, 1, 1}) == 3, "top-k 3");
  good &= expect(count({1, 0, 0.4f, 0, 1, 1}) == 1, "top-p 0.4") &&
          expect(count({1, 0, 0.79f, 0, 1, 1}) == 2, "top-p 0.79");
  good &= expect(count({1, 0, 0.81f, 0, 1, 1}) == 3, "top-p 0.81");
  good &= expect(count({1, 2, 0.6f, 0, 1, 1}) == 1, "top-p counts within top-k");
  good &= expect(count({1, 0, 1, 0.25f, 1, 1}) == 3, "min-p 0.25") && expect(count({1, 0, 1, 1, 1, 1}) == 1, "min-p 1");
  good &= expect(count({100, 0, 1, 0, 1, 1}) == 4 && count({0.01f, 0, 1, 0, 1, 1}) == 1, "temperature");
  return good;
}

// Golden values: they may never change, on no machine.
bool checkSeeds(const talc_model *model) {
  Logits logits(260);
  for (int i = 0; i < 260; ++i)
    logits[i] = float((i * 37) % 101) / 20;
  const talc_sampling sampling = {0.8f, 50, 0.9f, 0.01f, 1.1f, 42};
  std::vector<int32_t> ids = draw(model, sampling, logits, 8), again = draw(model, sampling, logits, 8);
  std::string text;
  for (int32_t id : ids)
    text += std::to_string(id) + " ";
  bool good = expect(ids == again, "the same seed gives the same tokens");
  good &= expect(text == "128 161 120 251 30 218 19 188 ", "tokens of seed 42: " + text);
  talc_sampling other = sampling;
  other.seed = 43;
  good &= expect(draw(model, other, logits, 8) != ids, "another seed gives others");
  for (int32_t id : draw(model, {1, 0, 1, 0, 1, 0}, logits, 2000, true))
    good &= id >= 0 && id <= 256;
  return expect(good, "only ids that the tokenizer has");
}

bool checkSettings(const talc_model *model) {
  const talc_sampling wrong[] = {{-1, 0, 1, 0, 1, 0},    {NAN, 0, 1, 0, 1, 0},  {1, -1, 1, 0, 1, 0},
                                 {1, 0, 0, 0, 1, 0},     {1, 0, 1.5f, 0, 1, 0}, {1, 0, NAN, 0, 1, 0},
                                 {1, 0, 1, -0.1f, 1, 0}, {1, 0, 1, 0, 0, 0},    {1, 0, 1, 0, NAN, 0}};
  bool good = true;
  for (const talc_sampling &sampling : wrong) {
    talc_sampler *sampler = nullptr;
    good &= talc_sampler_create(model, &sampling, &sampler, nullptr) == TALC_ERROR_ARGUMENT && !sampler;
  }
  return expect(good, "wrong settings are refused");
}

// ARTIFACT: the tokens 20 and 30 are suppressed.
bool checkSuppressed(const std::string &path) {
  talc_model *model = nullptr;
  if (!expect(talc_model_open(path.c_str(), nullptr, &model, nullptr) == TALC_OK, path))
    return false;
  Logits logits(260, 0);
  logits[20] = logits[30] = 9, logits[25] = 5;
  bool good = expect(draw(model, greedy, logits, 1)[0] == 25, "greedy takes no suppressed token");
  auto drawn = histogram(model, {3, 0, 1, 0, 1, 5}, logits, 4000);
  good &= expect(drawn.count(20) + drawn.count(30) == 0 && drawn.size() > 200, "suppressed tokens are never drawn");
  talc_model_close(model);
  return good;
}

}  // namespace

bool checkSampler(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_error error = {};
  if (talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) != TALC_OK)
    return expect(false, error.text);
  bool good = checkGreedy(model) && checkFilters(model) && checkSeeds(model) && checkSettings(model);
  talc_model_close(model);
  return good && checkSuppressed(arguments.at(1));
}

}  // namespace talc::test
