// SPDX-License-Identifier: Apache-2.0
// Checks a talc_request field by field, before anything is evaluated.
#include "runtime/generation/Request.h"

#include "runtime/LengthAdvice.h"
#include "runtime/TokenizeText.h"
#include "runtime/sampling/ModelSettings.h"
#include "runtime/sampling/Sampler.h"

#include <algorithm>
#include <cstring>

namespace talc {

constexpr int32_t mostTopTokens = 20;

namespace {

class RequestReader {
public:
  RequestReader(const Model &model, const talc_request &given, Request &request)
      : model(model), given(given), request(request) {}

  Status read();

private:
  Status readPrompt();
  Status readBeginning();
  Status chooseLanguage(talc_search &search) const;
  Status readPrefix();
  Status readSettings();
  Status readLimit();
  Status readText();
  Status chooseSearch();
  Status wrong(const char *what) const {
    return Status::failure(TALC_ERROR_ARGUMENT, "%s: request: %s", model.name().c_str(), what);
  }
  bool answers() const { return model.kind() == artifact::ModelKind::EncoderDecoder; }
  size_t capacity() const { return model.info().maxSequence; }

  const Model &model;
  const talc_request &given;
  Request &request;
};

}  // namespace

Status RequestReader::read() {
  if (model.kind() == artifact::ModelKind::Encoder)
    return Status::failure(TALC_ERROR_KIND, "%s: is an encoder, which generates no text; use talc_evaluate",
                           model.name().c_str());
  request.isAnswer = answers();
  request.ignoresEnd = given.ignore_end != 0;
  request.wantsLogits = given.prompt_logits != 0;
  request.wantsLogProbabilities = given.log_probabilities != 0;
  request.onEvent = given.on_event;
  request.user = given.user;
  for (auto step : {&RequestReader::readPrompt, &RequestReader::readBeginning, &RequestReader::readPrefix,
                    &RequestReader::readSettings, &RequestReader::readLimit, &RequestReader::readText,
                    &RequestReader::chooseSearch})
    if (Status status = (this->*step)(); status.failed())
      return status;
  return {};
}

// Takes the ids, or tokenizes the text.
Status RequestReader::readPrompt() {
  bool hasIds = given.ids || given.count != 0;
  if (hasIds == (given.text != nullptr) || given.count < 0 || (hasIds && !given.ids))
    return wrong("expected either text or ids, and as many ids as count says");
  if (hasIds && given.source_language)
    return wrong("source_language is for text, not for ids");
  std::vector<int32_t> &ids = answers() ? request.source : request.beginning;
  if (hasIds) {
    ids.assign(given.ids, given.ids + given.count);
    if (given.types)
      request.sourceTypes.assign(given.types, given.types + given.count);
  } else {
    size_t size = given.text_size ? given.text_size : strlen(given.text), dropped = 0;
    if (Status status = tokenizeText(model, given.source_language, {given.text, size}, nullptr, 0, ids,
                                     request.sourceTypes, dropped);
        status.failed())
      return status;
  }
  if (model.info().tokenTypes == 0 && !given.types)
    request.sourceTypes.clear();
  if (ids.empty())
    return Status::failure(TALC_ERROR_BATCH, "%s: request: has no tokens; give at least one", model.name().c_str());
  uint32_t vocabulary = answers() ? model.info().sourceVocabularySize : model.info().vocabularySize;
  return model.checkIds(ids.data(), static_cast<int32_t>(ids.size()), vocabulary, answers() ? "source" : "prompt");
}

Status RequestReader::readBeginning() {
  if (given.beginning_count < 0 || (given.beginning_count > 0 && !given.beginning))
    return wrong("beginning is NULL, or beginning_count is negative");
  if (given.beginning_count > 0 && !answers())
    return Status::failure(TALC_ERROR_KIND, "%s: request: has a beginning, but only answers to a source have one",
                           model.name().c_str());
  request.search = completeSearch(given.search, model.info());
  if (Status status = chooseLanguage(request.search); status.failed())
    return status;
  const int32_t start = request.search.start_token;
  if (answers() && given.beginning_count == 0 && start < 0)
    return wrong("the model does not say which token begins a text; give a beginning");
  if (answers() && given.beginning_count == 0)
    request.beginning.push_back(start);
  else if (answers())
    request.beginning.assign(given.beginning, given.beginning + given.beginning_count);
  for (size_t length : {request.source.size(), request.beginning.size()})
    if (length > capacity())
      return Status::failure(TALC_ERROR_STATE_FULL,
                             "%s: request: has %zu tokens, but the model was compiled for at most %zu; %s",
                             model.name().c_str(), length, capacity(),
                             lengthAdvice(model.info().maxSequence, model.info().longestSequence));
  return model.checkIds(request.beginning.data(), static_cast<int32_t>(request.beginning.size()), "beginning");
}

// Settings say how a text in one language begins; it takes the place of theirs.
Status RequestReader::chooseLanguage(talc_search &search) const {
  int32_t token = -1;
  if (!given.target_language)
    return {};
  if (!answers())
    return Status::failure(TALC_ERROR_KIND, "%s: request: has a target_language, but only answers to a source have one",
                           model.name().c_str());
  if (Status status = findLanguage(model, given.target_language, token); status.failed())
    return status;
  const LanguageTable &languages = model.tokenizer()->languages();
  bool startsInLanguage = languages.contains(search.start_token);
  if (startsInLanguage)
    search.start_token = token;
  if (!startsInLanguage || languages.contains(search.forced_begin))
    search.forced_begin = token;
  return {};
}

Status RequestReader::readPrefix() {
  if (given.prefix < TALC_NONE)
    return wrong("prefix must be 0 or more, or TALC_NONE");
  if (given.prefix > 0 && !model.info().usesPrefix)
    return Status::failure(TALC_ERROR_KIND, "%s: request: has a prefix, but the model uses none; expected 0",
                           model.name().c_str());
  size_t length = request.beginning.size();
  if (model.info().usesPrefix && given.prefix != TALC_NONE)
    request.prefix = given.prefix > 0 ? std::min<size_t>(given.prefix, length) : length;
  return {};
}

Status RequestReader::readSettings() {
  request.sampling = completeSampling(given.sampling, model.info());
  auto vocabulary = static_cast<int32_t>(model.info().vocabularySize);
  std::string wrongOne = findWrongNumber(request.sampling, request.search, vocabulary);
  if (wrongOne.empty())
    wrongOne = findWrongList(request.search, vocabulary);
  if (!wrongOne.empty())
    return wrong(wrongOne.c_str());
  if (given.bias_count < 0 || (given.bias_count > 0 && !given.biases))
    return wrong("biases is NULL, or bias_count is negative");
  request.biases.assign(given.biases, given.biases + given.bias_count);
  if (given.top_log_probabilities < 0 || given.top_log_probabilities > mostTopTokens)
    return wrong("top_log_probabilities must be 0 to 20");
  request.topCount = std::min<size_t>(given.top_log_probabilities, vocabulary);
  return {};
}

// The last token of a text needs no room: it is not evaluated.
Status RequestReader::readLimit() {
  constexpr int32_t usual = 128;
  const artifact::ModelInfo &info = model.info();
  size_t length = request.beginning.size(), room = capacity() + 1 - length;
  if (given.new_tokens < TALC_NONE)
    return wrong("new_tokens must be 0 or more, or TALC_NONE");
  if (given.new_tokens == 0 && info.generation.maxLength > 0) {
    if (length >= static_cast<size_t>(info.generation.maxLength))
      return Status::failure(TALC_ERROR_STATE_FULL,
                             "%s: request: the text begins with %zu tokens, but by default the model's texts have at "
                             "most %d in all (max_length); give new_tokens",
                             model.name().c_str(), length, info.generation.maxLength);
    request.limit = info.generation.maxLength - length;
  } else if (given.new_tokens != TALC_NONE) {
    int32_t modelLimit = info.generation.newTokens > 0 ? info.generation.newTokens
                         : answers()                   ? static_cast<int32_t>(info.maxSequence)
                                                       : usual;
    request.limit = given.new_tokens > 0 ? given.new_tokens : modelLimit;
  }
  request.fillsRoom = request.limit > room;
  request.limit = std::min(request.limit, room);
  return {};
}

Status RequestReader::readText() {
  int32_t form;  // a program in C may have stored any number
  memcpy(&form, &given.text_form, sizeof(form));
  if (form < TALC_TEXT_STREAMED || form > TALC_TEXT_NONE)
    return wrong("text_form must be 0 to 2");
  request.textForm = model.tokenizer() ? given.text_form : TALC_TEXT_NONE;
  if (given.stop_count < 0 || (given.stop_count > 0 && !given.stops))
    return wrong("stops is NULL, or stop_count is negative");
  for (int32_t i = 0; i < given.stop_count; ++i) {
    if (!given.stops[i] || !*given.stops[i])
      return wrong("a stop text is NULL or empty");
    request.stops.emplace_back(given.stops[i]);
  }
  if (given.stop_count > 0 && request.textForm == TALC_TEXT_NONE)
    return wrong("stop texts need a text_form other than TALC_TEXT_NONE, and a tokenizer");
  if (model.tokenizer() && !request.ignoresEnd)
    request.stops.insert(request.stops.end(), model.stopTexts().begin(), model.stopTexts().end());
  return {};
}

// Beams that only the model's authors ask for give way to what beams cannot do.
Status RequestReader::chooseSearch() {
  bool penalizesNew = request.sampling.presence_penalty != 0 || request.sampling.frequency_penalty != 0;
  bool unfit = request.ignoresEnd || given.stop_count > 0 || request.wantsLogProbabilities || penalizesNew ||
               !request.biases.empty() || request.topCount > 0;
  bool asked = given.search && given.search->beams != 0;
  bool samples = request.sampling.temperature > 0 && !asked;
  if (unfit && asked && request.searches())
    return wrong("beams cannot be combined with ignore_end, stops, biases, penalties of presence or frequency, "
                 "log_probabilities or top_log_probabilities");
  if (unfit || samples || request.limit == 0)
    request.search.beams = 1;
  return {};
}

Status makeRequest(const Model &model, const talc_request &given, Request &request) {
  return RequestReader(model, given, request).read();
}

}  // namespace talc
