// SPDX-License-Identifier: Apache-2.0
// PATH: searches of several texts on one session find what a search finds that evaluates every text from its first
// token; every documented error of talc.h's section Search. PATH is where artifacts are written.
#include "runtime/sampling/BeamSearch.h"
#include "test/runtime/FakeSession.h"
#include "test/runtime/RuntimeChecks.h"

#include <cmath>
#include <numeric>

namespace talc::test {
namespace {

using Ids = std::vector<int32_t>;
constexpr int32_t vocabulary = 260, beams = 3, texts = 2;

struct Input {
  Ids source, prompt;
  int32_t limit;
};

struct Found {
  Ids ids;
  double score;
  bool operator==(const Found &other) const { return ids == other.ids && score == other.score; }
};

talc_search settingsOf(const talc_model *model) {
  talc_model_info info;
  talc_model_get_info(model, &info, nullptr);
  talc_search settings = info.search;
  settings.beams = beams;
  settings.length_penalty = 0.8f;
  settings.no_repeat_ngram = 2;
  settings.renormalize = 1;
  return settings;
}

constexpr float repetitionPenalty = 1.5f;

std::vector<Found> searchAlone(const talc_search &settings, const Input &input) {
  Ids choosable(vocabulary);
  std::iota(choosable.begin(), choosable.end(), 0);
  TokenRules rules;
  rules.noRepeatNgram = settings.no_repeat_ngram;
  TokenScores scores({vocabulary, repetitionPenalty, settings.renormalize != 0}, rules);
  BeamSearch search({beams, settings.length_penalty, artifact::EarlyStopping::No, {endToken}}, choosable);
  search.start(input.prompt.data(), input.prompt.size(), input.limit);
  std::vector<Ids> now(1, input.prompt);
  while (!search.ended()) {
    std::vector<std::vector<float>> rows;
    std::vector<const float *> logits;
    for (const Ids &text : now)
      rows.push_back(
          fakeResult({cellsOf(input.source), cellsOf(text), text.size(), text.size() - 1}, vocabulary, 0, vocabulary));
    for (const auto &row : rows)
      logits.push_back(row.data());
    search.step(logits.data(), scores);
    std::vector<Ids> next;
    for (size_t beam = 0; beam < search.beams(); ++beam) {
      next.push_back(now[search.parent(beam)]);
      next.back().push_back(*search.token(beam));
    }
    now = next;
  }
  std::vector<Found> found;
  for (size_t rank = 0; rank < search.resultCount(); ++rank)
    found.push_back({search.result(rank).ids, search.result(rank).score});
  return found;
}

std::vector<Found> resultsOf(const talc_beam_search *search, int32_t text) {
  std::vector<Found> found;
  talc_beam_result result;
  for (int32_t rank = 0; talc_beam_search_result(search, text, rank, &result, nullptr) == TALC_OK; ++rank)
    found.push_back({Ids(result.ids, result.ids + result.count), result.score});
  return found;
}

bool startText(FakeSession &fake, talc_beam_search *search, int32_t text, const Input &input) {
  auto size = [](const Ids &ids) { return static_cast<int32_t>(ids.size()); };
  if (!input.source.empty()) {
    talc_sequence source = {};
    source.slot = talc_beam_search_slot(search, text);
    source.count = size(input.source);
    source.ids = input.source.data();
    if (talc_encode(fake.session, &source, 1, &fake.error) != TALC_OK)
      return false;
  }
  bool given = input.source.empty();
  talc_beam_text begin = {text, given ? size(input.prompt) : 0, given ? input.prompt.data() : nullptr, input.limit, 0};
  return talc_beam_search_start(search, &begin, &fake.error) == TALC_OK;
}

// More inputs than texts at the same time.
bool checkInputs(const std::string &path, artifact::ModelKind kind, const std::vector<Input> &inputs) {
  FakeOptions options;
  options.kind = kind;
  options.tokenizer = false;
  options.startToken = 40;
  FakeSession fake(path, options, texts * beams);
  if (!expect(fake.session, fake.error.text))
    return false;
  talc_search settings = settingsOf(fake.model);
  talc_beam_search *search = nullptr;
  talc_beam_search_create(fake.session, &settings, repetitionPenalty, texts, &search, &fake.error);
  bool good = expect(search, fake.error.text);
  std::vector<size_t> inputOf(texts, inputs.size());
  size_t next = 0, done = 0;
  while (good && done < inputs.size()) {
    for (int32_t text = 0; text < texts; ++text)
      if (!talc_beam_search_running(search, text) && next < inputs.size()) {
        inputOf[text] = next;
        good &= expect(startText(fake, search, text, inputs[next++]), fake.error.text);
      }
    good = good && expect(talc_beam_search_step(search, nullptr, &fake.error) == TALC_OK, fake.error.text);
    for (int32_t text = 0; text < texts; ++text)
      if (inputOf[text] < inputs.size() && !talc_beam_search_running(search, text)) {
        good &= expect(resultsOf(search, text) == searchAlone(settings, inputs[inputOf[text]]),
                       "input " + std::to_string(inputOf[text]));
        inputOf[text] = inputs.size();
        ++done;
      }
  }
  talc_session_memory memory = {};
  talc_session_get_memory(fake.session, &memory, nullptr, nullptr);
  talc_beam_search_destroy(search);
  return good && expect(memory.state_used == 0, "memory after all searches");
}

bool checkBegins(FakeSession &fake, talc_beam_search *search) {
  talc_error &e = fake.error;
  const Ids ids = {5, 999};
  talc_beam_text text = {0, 1, ids.data(), 4, 0};
  bool good = expect(talc_beam_search_start(search, &text, &e) == TALC_OK, e.text);
  good &= fails(talc_beam_search_start(search, &text, &e), TALC_ERROR_ARGUMENT, e, "text 0 still runs; stop it");
  talc_beam_result result;
  good &= fails(talc_beam_search_result(search, 0, 0, &result, &e), TALC_ERROR_ARGUMENT, e, "no such text or rank");
  good &= expect(talc_beam_search_stop(search, 0, &e) == TALC_OK && !talc_beam_search_running(search, 0), "stop");
  text.count = 2;
  good &= fails(talc_beam_search_start(search, &text, &e), TALC_ERROR_TOKEN, e, "999");
  text.count = 1, text.limit = 49;
  good &= fails(talc_beam_search_start(search, &text, &e), TALC_ERROR_STATE_FULL, e, "could have 49 tokens");
  text.limit = 0;
  good &= fails(talc_beam_search_start(search, &text, &e), TALC_ERROR_ARGUMENT, e, "limit is below 1");
  text.limit = 4, text.text = 1;
  good &= fails(talc_beam_search_start(search, &text, &e), TALC_ERROR_ARGUMENT, e, "no such text");
  text.text = 0, text.ids = nullptr;
  good &= fails(talc_beam_search_start(search, &text, &e), TALC_ERROR_ARGUMENT, e, "ids is NULL");
  int32_t running = 7;
  good &= expect(talc_beam_search_step(search, &running, &e) == TALC_OK && running == 0, "nothing to do");
  good &= fails(talc_beam_search_step(nullptr, nullptr, &e), TALC_ERROR_ARGUMENT, e, "NULL");
  good &= fails(talc_beam_search_stop(search, 1, &e), TALC_ERROR_ARGUMENT, e, "no such text");
  return good && expect(talc_beam_search_slot(search, 1) == -1, "the slot of no text");
}

bool checkSettings(FakeSession &fake) {
  talc_error &e = fake.error;
  talc_beam_search *search = nullptr;
  const int32_t outside = vocabulary;
  auto wrong = [&](auto change, const char *what) {
    talc_search settings = settingsOf(fake.model);
    change(settings);
    return fails(talc_beam_search_create(fake.session, &settings, 1, 1, &search, &e), TALC_ERROR_ARGUMENT, e, what);
  };
  bool good = wrong([](talc_search &s) { s.beams = 0; }, "beams must be 1 to 1024");
  good &= wrong([](talc_search &s) { s.length_penalty = NAN; }, "length penalty must be finite");
  good &= wrong([](talc_search &s) { s.early_stopping = 3; }, "early stopping must be 0, 1 or 2");
  good &= wrong([](talc_search &s) { s.no_repeat_ngram = -1; }, "no_repeat_ngram must be 0 or more");
  good &= wrong([](talc_search &s) { s.forbidden_count = 2, s.forbidden = nullptr; }, "forbidden groups are NULL");
  good &= wrong([](talc_search &s) { s.renormalize = 2; }, "renormalize must be 0 or 1");
  good &= wrong([](talc_search &s) { s.forced_end = vocabulary; }, "forced tokens must be in the vocabulary");
  good &= wrong([](talc_search &s) { s.suppressed_token_count = -1; }, "suppressed tokens are NULL");
  good &= wrong([&](talc_search &s) { s.suppressed_token_count = 1, s.suppressed_tokens = &outside; },
                "suppressed tokens must be in the vocabulary");
  good &= wrong([&](talc_search &s) { s.begin_suppressed_count = 1, s.begin_suppressed = &outside; },
                "suppressed tokens must be in the vocabulary");
  good &= wrong([](talc_search &s) { s.min_new_tokens = -1; }, "min_new_tokens and min_length must be 0 or more");
  good &= wrong([](talc_search &s) { s.min_length = -1; }, "min_new_tokens and min_length must be 0 or more");
  auto create = [&](float penalty, int32_t count) {
    talc_search settings = settingsOf(fake.model);
    return talc_beam_search_create(fake.session, &settings, penalty, count, &search, &e);
  };
  good &= fails(create(0, 1), TALC_ERROR_ARGUMENT, e, "repetition penalty must be above 0");
  good &= fails(create(1, 0), TALC_ERROR_ARGUMENT, e, "texts is below 1");
  good &= fails(create(1, 2), TALC_ERROR_BATCH, e, "2 texts of 3 beams need 6 slots, but the session has 3");
  good &= expect(create(1, 1) == TALC_OK, e.text) && checkBegins(fake, search);
  talc_beam_search_destroy(search);
  return good;
}

bool checkErrors(const std::string &path) {
  FakeOptions options;
  options.maxSequence = 48;
  FakeSession fake(path + ".decoder", options, beams);
  options.kind = artifact::ModelKind::Encoder;
  FakeSession encoder(path + ".encoder", options, beams);
  if (!expect(fake.session && encoder.session, "sessions"))
    return false;
  talc_beam_search *search = nullptr;
  bool good = fails(talc_beam_search_create(encoder.session, nullptr, 1, 1, &search, &encoder.error), TALC_ERROR_KIND,
                    encoder.error, "is an encoder");
  return checkSettings(fake) && good;
}

// Logits that are no numbers end a search without a result, and are told.
bool checkNothing(const std::string &path) {
  FakeOptions options;
  options.nanFrom = 2;
  FakeSession fake(path, options, beams);
  talc_search settings = settingsOf(fake.model);
  talc_beam_search *search = nullptr;
  talc_beam_search_create(fake.session, &settings, 1, 1, &search, nullptr);
  bool good = expect(search && startText(fake, search, 0, {{}, {5, 6}, 4}), fake.error.text) &&
              expect(talc_beam_search_step(search, nullptr, &fake.error) == TALC_OK, fake.error.text);
  good = good && fails(talc_beam_search_step(search, nullptr, &fake.error), TALC_ERROR_LOGITS, fake.error, "NaN");
  good = good && expect(!talc_beam_search_running(search, 0) && resultsOf(search, 0).empty(), "an ended search");
  talc_beam_search_destroy(search);
  return good;
}

}  // namespace

bool checkBeamSessions(const Arguments &arguments) {
  const std::string &path = arguments.at(0);
  Ids longPrompt(700);
  for (size_t i = 0; i < longPrompt.size(); ++i)
    longPrompt[i] = static_cast<int32_t>(i * i % 200);
  bool good =
      checkInputs(path + ".1", artifact::ModelKind::Decoder,
                  {{{}, {5, 6, 7}, 9}, {{}, {250}, 12}, {{}, longPrompt, 6}, {{}, {251, 9, 252}, 20}, {{}, {1}, 1}});
  good &= checkInputs(path + ".2", artifact::ModelKind::EncoderDecoder,
                      {{{30, 31}, {40}, 8}, {{7}, {40}, 15}, {Ids(60, 3), {40}, 5}, {{30, 32}, {40}, 8}});
  return checkErrors(path) && checkNothing(path + ".nan") && good;
}

}  // namespace talc::test
