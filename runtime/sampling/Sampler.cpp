// SPDX-License-Identifier: Apache-2.0
// Applies logits processors, repetition penalty, temperature and filters, and draws.
#include "runtime/sampling/Sampler.h"

#include "runtime/sampling/Exponential.h"
#include "runtime/sampling/LikelyTokens.h"
#include "runtime/sampling/ModelSettings.h"
#include "runtime/sampling/filters/Filter.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace talc {

Sampler::Sampler(const Model &model, const talc_sampling &settings, const talc_search &search, size_t length)
    : model(model), settings(settings), length(length), rules(makeRules(model, search)), penalties(settings),
      random(settings.seed) {
  const std::vector<int32_t> &ids = model.sampleableIds();
  auto isNeverChosen = [&](int32_t id) { return !std::binary_search(ids.begin(), ids.end(), id); };
  auto &list = rules.suppressed;
  list.erase(std::remove_if(list.begin(), list.end(), isNeverChosen), list.end());
  constexpr uint32_t maxReserved = 1 << 20;  // longer texts grow as they come
  text.reserve(length > 0 ? length : std::min(model.info().maxSequence, maxReserved) + 1);
}

void Sampler::reserve(SamplingScratch &scratch) const {
  size_t vocabulary = model.info().vocabularySize, ranges = model.sampleableRanges().size();
  penalties.reserve(vocabulary, scratch);
  if (editsLogits() || penalties.areOn())
    scratch.allowed.resize(vocabulary);
  if (mask)  // at worst every other token
    scratch.ranges.reserve(ranges += (vocabulary + 1) / 2);
  if (settings.temperature != 0)
    reserveForLikeliest(model.sampleableIds().size(), ranges, scratch);
}

Status Sampler::create(const Model &model, const talc_sampling &settings, const talc_search &rules, size_t length,
                       std::unique_ptr<Sampler> &sampler) {
  auto vocabulary = static_cast<int32_t>(model.info().vocabularySize);
  std::string wrong = findWrongNumber(settings, rules, vocabulary);
  if (wrong.empty())
    wrong = findWrongList(rules, vocabulary);
  if (!wrong.empty())
    return Status::failure(TALC_ERROR_ARGUMENT, "sampling: %s", wrong.c_str());
  sampler.reset(new Sampler(model, settings, rules, length));
  return {};
}

Status Sampler::accept(const int32_t *ids, int32_t count) {
  if (Status status = model.checkIds(ids, count, "accepted tokens"); status.failed())
    return status;
  text.insert(text.end(), ids, ids + count);
  if (!samples)
    beginning = text.size();
  return {};
}

Status Sampler::setBiases(const talc_logit_bias *given, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    if (Status status = model.checkIds(&given[i].id, 1, "biases"); status.failed())
      return status;
    if (!(given[i].bias < HUGE_VALF))
      return Status::failure(TALC_ERROR_ARGUMENT, "sampling: a bias must be a number or minus infinity");
  }
  biases.assign(given, given + count);
  return {};
}

Status Sampler::allow(const uint32_t *bits, int32_t words) {
  size_t expected = (model.info().vocabularySize + 31) / 32;
  if (bits && (words < 0 || static_cast<size_t>(words) != expected))
    return Status::failure(TALC_ERROR_ARGUMENT, "sampling: %d words of bits, expected %zu: vocabulary_size / 32", words,
                           expected);
  mask = bits;
  return {};
}

// The ids among which one is chosen.
const std::vector<IdRange> &Sampler::choosableRanges(SamplingScratch &scratch) const {
  if (!mask)
    return model.sampleableRanges();
  intersect(model.sampleableRanges(), mask, scratch.ranges);
  return scratch.ranges;
}

// Returns the likeliest id, the lowest of equal ones; -1: none. Minus infinity and NaN are never chosen.
int32_t Sampler::findBest(const float *logits, const std::vector<IdRange> &ranges,
                          const SamplingScratch &scratch) const {
  if (!penalties.areOn())
    return likeliestToken(logits, ranges);
  int32_t best = -1;
  double highest = -HUGE_VAL;
  forEachId(ranges, [&](int32_t id) {
    if (double logit = penalties.apply(logits[id], id, scratch); logit > highest) {
      highest = logit;
      best = id;
    }
  });
  return best;
}

// Moves the tokens of the text, whose order penalties change, from the logits to the candidates.
const float *Sampler::setTextApart(const float *logits, const std::vector<IdRange> &ranges,
                                   SamplingScratch &scratch) const {
  if (logits != scratch.allowed.data())
    std::copy(logits, logits + scratch.allowed.size(), scratch.allowed.begin());
  for (int32_t id : text)
    if (float &logit = scratch.allowed[id]; logit > -HUGE_VALF) {
      if (containsId(ranges, id))
        scratch.candidates.push_back({penalties.apply(logit, id, scratch), id});
      logit = -HUGE_VALF;
    }
  return scratch.allowed.data();
}

// Candidates are the ids with a logit above minus infinity, after penalties; where no more than the k likeliest count,
// many of the others are left out.
void Sampler::collect(const float *logits, const std::vector<IdRange> &ranges, SamplingScratch &scratch) const {
  scratch.candidates.clear();
  if (settings.top_k > 0) {
    const float *rest = penalties.areOn() ? setTextApart(logits, ranges, scratch) : logits;
    return appendLikeliest(rest, ranges, settings.top_k, scratch);
  }
  forEachId(ranges, [&](int32_t id) {
    double logit = penalties.apply(logits[id], id, scratch);
    if (logit > -HUGE_VAL)  // false for NaN
      scratch.candidates.push_back({logit, id});
  });
}

Status Sampler::sample(const float *logits, SamplingScratch &scratch, int32_t &id) {
  UnfinishedText unfinished = {text.data(), text.size(), beginning, text.size() + 1 == length};
  id = rules.forced(unfinished);
  if (id < 0) {
    penalties.read(unfinished, scratch);
    if (Status status = choose(edit(logits, unfinished, scratch.allowed), scratch, id); status.failed())
      return status;
  }
  text.push_back(id);
  samples = true;
  return {};
}

// Adds biases and forbids tokens, in a copy.
const float *Sampler::edit(const float *logits, const UnfinishedText &unfinished, std::vector<float> &allowed) const {
  if (!editsLogits())
    return logits;
  std::copy(logits, logits + allowed.size(), allowed.begin());
  for (const talc_logit_bias &bias : biases)
    allowed[bias.id] += bias.bias;
  auto forbidOne = [&allowed](int32_t id) { allowed[id] = -HUGE_VALF; };
  rules.forEachUnfit(unfinished, forbidOne);
  rules.forEachSuppressed(unfinished, forbidOne);
  return allowed.data();
}

Status Sampler::choose(const float *logits, SamplingScratch &scratch, int32_t &id) {
  const std::vector<IdRange> &ranges = choosableRanges(scratch);
  int32_t best = findBest(logits, ranges, scratch);
  if (best < 0)
    return Status::failure(TALC_ERROR_LOGITS,
                           "%s: no token can be chosen: all logits are NaN, minus infinity or forbidden",
                           model.name().c_str());
  double highest = penalties.apply(logits[best], best, scratch);
  if (settings.temperature == 0 || highest == HUGE_VAL) {
    id = best;
  } else {
    collect(logits, ranges, scratch);
    takeExponentials(scratch.candidates, highest);
    id = draw(scratch.candidates);
  }
  return {};
}

// Several side by side.
void Sampler::takeExponentials(std::vector<Candidate> &candidates, double highest) const {
  for (size_t first = 0; first < candidates.size(); first += doubleLanes) {
    size_t count = std::min(doubleLanes, candidates.size() - first);
    Doubles values = {};
    for (size_t lane = 0; lane < count; ++lane)
      values[lane] = candidates[first + lane].value;
    values = deterministicExps((values - highest) / settings.temperature);
    for (size_t lane = 0; lane < count; ++lane)
      candidates[first + lane].value = values[lane];
  }
}

int32_t Sampler::draw(std::vector<Candidate> &candidates) {
  size_t begin = 0;
  auto isOn = [this](const Filter *filter) { return filter->isOn(settings); };
  if (std::any_of(std::begin(filters), std::end(filters), isOn)) {
    SortedCandidates sorted(candidates);
    for (const Filter *filter : filters)
      if (isOn(filter))
        filter->apply(settings, sorted);
    begin = sorted.begin();
  }
  double mass = 0;
  for (size_t i = candidates.size(); i-- > begin;)
    mass += candidates[i].value;
  return pick(candidates, begin, mass);
}

// Goes from the likeliest down. Rounding may leave a rest; the last candidate takes it.
int32_t Sampler::pick(const std::vector<Candidate> &candidates, size_t begin, double mass) {
  double rest = random.uniform() * mass;
  for (size_t i = candidates.size(); i-- > begin + 1;) {
    rest -= candidates[i].value;
    if (rest < 0)
      return candidates[i].id;
  }
  return candidates[begin].id;
}

}  // namespace talc
