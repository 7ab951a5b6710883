// SPDX-License-Identifier: Apache-2.0
// Hands logits to a beam search and takes its results.
#include "runtime/generation/BeamDecoding.h"

#include "runtime/Invariant.h"

#include <algorithm>

namespace talc {

static BeamSettings beamSettings(const Model &model, const talc_search &settings) {
  const auto &end = model.info().generation.end;
  return {settings.beams, settings.length_penalty, static_cast<artifact::EarlyStopping>(settings.early_stopping),
          std::vector<int32_t>(end.begin(), end.end())};
}

BeamDecoding::BeamDecoding(const Model &model, const Request &request)
    : model(model), request(request),
      scores({model.info().vocabularySize, request.sampling.repetition_penalty, request.search.renormalize != 0},
             makeRules(model, request.search)),
      search(beamSettings(model, request.search), model.sampleableIds()), output(model, request) {
  search.start(request.beginning.data(), request.beginning.size(), request.limit);
  results.reserve(request.search.beams);
}

void BeamDecoding::attach(GenerationScratch &scratch) {
  scores.reserve(scratch.sampling);
  shared = &scratch;
}

Status BeamDecoding::choose(const float *const *logits, talc_event &) {
  if (!search.ended())
    search.step(logits, scores, shared->sampling);
  if (!search.ended())
    return require(isSound(), "BeamDecoding::choose", "beams continue beams with tokens of the vocabulary");
  if (search.resultCount() == 0)
    return Status::failure(TALC_ERROR_LOGITS,
                           "%s: no token can be chosen: all logits are NaN, minus infinity or forbidden",
                           model.name().c_str());
  end = chooseEnding(search.result(0));
  return {};
}

bool BeamDecoding::isSound() const {
  for (size_t beam = 0; beam < search.beams(); ++beam)
    if (search.parent(beam) >= static_cast<size_t>(width()) || *search.token(beam) < 0 ||
        static_cast<uint32_t>(*search.token(beam)) >= model.info().vocabularySize)
      return false;
  return search.beams() <= static_cast<size_t>(width());
}

talc_ending BeamDecoding::chooseEnding(const BeamResult &best) const {
  if (model.isEndToken(best.ids.back()))
    return TALC_ENDING_END_TOKEN;
  return request.fillsRoom ? TALC_ENDING_STATE_FULL : TALC_ENDING_LIMIT;
}

void BeamDecoding::finish(talc_event &event) {
  if (end == TALC_ENDING_NONE)  // given up
    return;
  results.clear();
  for (size_t rank = 0; rank < search.resultCount(); ++rank) {
    const BeamResult &result = search.result(rank);
    results.push_back({static_cast<int32_t>(result.ids.size()), result.ids.data(), result.score});
  }
  event.result_count = static_cast<int32_t>(results.size());
  event.results = results.data();
  event.count = results[0].count;
  event.ids = results[0].ids;
  for (; pushed < event.count; ++pushed)
    output.push(event.ids[pushed], shared->text);
  output.finish(event.ids, event.count, shared->text);
  std::string_view text = output.take();
  event.text = text.data();
  event.text_size = text.size();
}

}  // namespace talc
