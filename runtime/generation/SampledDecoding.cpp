// SPDX-License-Identifier: Apache-2.0
// Samples, detokenizes, and decides when a text ends.
#include "runtime/generation/SampledDecoding.h"

#include "runtime/Invariant.h"
#include "runtime/sampling/LikelyTokens.h"
#include "runtime/sampling/TokenScores.h"

#include <algorithm>

namespace talc {

Status SampledDecoding::create(const Model &model, const Request &request, std::unique_ptr<DecodingStrategy> &text) {
  std::unique_ptr<SampledDecoding> created(new SampledDecoding(model, request));
  size_t length = request.beginning.size() + request.limit;
  if (Status status = Sampler::create(model, request.sampling, request.search, length, created->sampler);
      status.failed())
    return status;
  const auto biasCount = static_cast<int32_t>(request.biases.size());
  if (Status status = created->sampler->setBiases(request.biases.data(), biasCount); status.failed())
    return status;
  created->top.reserve(request.topCount);
  Status status = created->sampler->accept(request.beginning.data(), static_cast<int32_t>(request.beginning.size()));
  text = std::move(created);
  return status;
}

void SampledDecoding::attach(GenerationScratch &scratch) {
  sampler->reserve(scratch.sampling);
  if (request.topCount > 0)
    reserveForLikeliest(model.info().vocabularySize, 1, scratch.sampling);
  shared = &scratch;
}

Status SampledDecoding::choose(const float *const *logits, talc_event &event) {
  int32_t id = *lastToken(0);
  if (pushed == newTokens())  // else an earlier call has chosen, and its text lacked memory
    if (Status status = sampler->sample(logits[0], shared->sampling, id); status.failed())
      return status;
  if (id < 0 || static_cast<uint32_t>(id) >= model.info().vocabularySize)
    return defect("SampledDecoding::choose", "a token of the vocabulary was chosen");
  event.count = 1;
  event.ids = lastToken(0);
  if (request.wantsLogProbabilities || request.topCount > 0)
    describeProbabilities(logits[0], event);
  bool stopped = output.push(id, shared->text);
  ++pushed;
  showText(event);
  end = endingAfter(id, stopped);
  return {};
}

// Fills in the probabilities that the model gives, of the chosen token and of the likeliest.
void SampledDecoding::describeProbabilities(const float *logits, talc_event &event) {
  const auto vocabulary = static_cast<int32_t>(model.info().vocabularySize);
  LogProbabilities probabilities(logits, vocabulary);
  if (request.wantsLogProbabilities)
    event.log_probability = probabilities.of(event.ids[0]);
  SamplingScratch &scratch = shared->sampling;
  scratch.candidates.clear();
  if (request.topCount > 0)
    appendLikeliest(logits, allIds, request.topCount, scratch);
  size_t count = std::min(request.topCount, scratch.candidates.size());
  auto isLikelier = [](const Candidate &a, const Candidate &b) {
    return std::make_pair(-a.value, a.id) < std::make_pair(-b.value, b.id);
  };
  std::partial_sort(scratch.candidates.begin(), scratch.candidates.begin() + static_cast<ptrdiff_t>(count),
                    scratch.candidates.end(), isLikelier);
  top.clear();
  for (size_t i = 0; i < count; ++i)
    top.push_back({scratch.candidates[i].id, 0, probabilities.of(scratch.candidates[i].id)});
  event.top = top.data();
  event.top_count = static_cast<int32_t>(count);
}

void SampledDecoding::appendTokens(size_t count, std::vector<int32_t> &ids) const {
  const int32_t *first = sampler->tokens().data() + request.beginning.size();
  ids.insert(ids.end(), first, first + std::min(count, newTokens()));
}

talc_ending SampledDecoding::endingAfter(int32_t id, bool stopped) const {
  if (stopped)
    return TALC_ENDING_STOP;
  if (!request.ignoresEnd && model.isEndToken(id))
    return TALC_ENDING_END_TOKEN;
  if (newTokens() < request.limit)
    return TALC_ENDING_NONE;
  return request.fillsRoom ? TALC_ENDING_STATE_FULL : TALC_ENDING_LIMIT;
}

void SampledDecoding::showText(talc_event &event) {
  std::string_view shown = output.take();
  event.text = shown.data();
  event.text_size = shown.size();
}

void SampledDecoding::finish(talc_event &event) {
  event.ids = sampler->tokens().data() + request.beginning.size();
  event.count = static_cast<int32_t>(pushed);
  if (!shared)  // given up before anything was chosen
    return;
  output.finish(event.ids, event.count, shared->text);
  showText(event);
}

}  // namespace talc
