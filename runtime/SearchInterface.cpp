// SPDX-License-Identifier: Apache-2.0
// Implements the section Search of talc.h.
#include "runtime/InterfaceTypes.h"
#include "runtime/search/SearchRun.h"

#include <algorithm>
#include <cmath>

using talc::report;
using talc::Status;
using talc::wrongArgument;

struct talc_beam_search {
  talc::SearchRun run;
};

// Null when all settings are in their ranges.
static const char *findWrongSearch(const talc_search &settings, float repetitionPenalty, int32_t vocabulary) {
  if (settings.beams < 1 || settings.beams > talc::artifact::maxBeams)
    return "beams must be 1 to 1024";
  if (!std::isfinite(settings.length_penalty))
    return "the length penalty must be finite";
  if (settings.early_stopping < 0 || settings.early_stopping > 2)
    return "early stopping must be 0, 1 or 2";
  if (settings.renormalize < 0 || settings.renormalize > 1)
    return "renormalize must be 0 or 1";
  if (!std::isfinite(repetitionPenalty) || repetitionPenalty <= 0)
    return "the repetition penalty must be above 0";
  return talc::findWrongRule(settings, vocabulary);
}

talc_status talc_beam_search_create(talc_session *session, const talc_search *settings, float repetition_penalty,
                                    int32_t texts, talc_beam_search **search, talc_error *error) try {
  if (!session || !search || texts < 1)
    return wrongArgument(__func__, "session or search is NULL, or texts is below 1", error);
  *search = nullptr;
  const talc::Model &model = session->session->usedModel();
  if (model.kind() == talc::artifact::ModelKind::Encoder)
    return report(Status::failure(TALC_ERROR_KIND,
                                  "%s: is an encoder, which generates no text: there is nothing to "
                                  "search",
                                  model.name().c_str()),
                  error);
  talc_search used = settings ? *settings : talc::defaultSearch(model.info());
  auto vocabulary = static_cast<int32_t>(model.info().vocabularySize);
  if (const char *wrong = findWrongSearch(used, repetition_penalty, vocabulary))
    return wrongArgument(__func__, wrong, error);
  int64_t needed = int64_t(texts) * used.beams;
  if (needed > session->session->slots())
    return report(Status::failure(TALC_ERROR_BATCH,
                                  "talc_beam_search_create: %d texts of %d beams need %lld slots, but "
                                  "the session has %d",
                                  texts, used.beams, static_cast<long long>(needed), session->session->slots()),
                  error);
  *search = new talc_beam_search{talc::SearchRun(model, session, used, repetition_penalty, texts)};
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}

void talc_beam_search_destroy(talc_beam_search *search) {
  delete search;
}

static bool hasText(const talc_beam_search *search, int32_t text) {
  return search && text >= 0 && text < search->run.textCount();
}

int32_t talc_beam_search_slot(const talc_beam_search *search, int32_t text) {
  return hasText(search, text) ? search->run.firstSlot(text) : -1;
}

talc_status talc_beam_search_start(talc_beam_search *search, const talc_beam_text *text, talc_error *error) try {
  if (!search || !text || !hasText(search, text->text))
    return wrongArgument(__func__, "search or text is NULL, or there is no such text", error);
  if (text->count < 0 || (text->count > 0 && !text->ids) || text->limit < 1 || text->prefix < 0)
    return wrongArgument(__func__, "ids is NULL, count or prefix is negative, or limit is below 1", error);
  return report(search->run.start(*text), error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_beam_search_step(talc_beam_search *search, int32_t *running, talc_error *error) try {
  int32_t count = 0;
  if (running)
    *running = 0;
  if (!search)
    return wrongArgument(__func__, "search is NULL", error);
  Status status = search->run.step(count);
  if (running && !status.failed())
    *running = count;
  return report(status, error);
} catch (...) {
  return talc::refusedMemory(error);
}

talc_status talc_beam_search_stop(talc_beam_search *search, int32_t text, talc_error *error) try {
  if (!hasText(search, text))
    return wrongArgument(__func__, "search is NULL, or there is no such text", error);
  return report(search->run.stop(text), error);
} catch (...) {
  return talc::refusedMemory(error);
}

int32_t talc_beam_search_running(const talc_beam_search *search, int32_t text) {
  return hasText(search, text) && search->run.runs(text);
}

talc_status talc_beam_search_result(const talc_beam_search *search, int32_t text, int32_t rank,
                                    talc_beam_result *result, talc_error *error) try {
  if (!result)
    return wrongArgument(__func__, "result is NULL", error);
  *result = {};
  if (!hasText(search, text) || rank < 0 || static_cast<size_t>(rank) >= search->run.search(text).resultCount())
    return wrongArgument(__func__, "search is NULL, or there is no such text or rank", error);
  const talc::BeamResult &found = search->run.search(text).result(rank);
  *result = {static_cast<int32_t>(found.ids.size()), found.ids.data(), found.score};
  return TALC_OK;
} catch (...) {
  return talc::refusedMemory(error);
}
