// SPDX-License-Identifier: Apache-2.0
// PATH: searches of several texts on one session find what a search finds that evaluates every text from its first
// token; every documented error of their settings. PATH is where artifacts are written.
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

struct SearchResult {
  Ids ids;
  double score;
  bool operator==(const SearchResult &other) const { return ids == other.ids && score == other.score; }
};

talc_search makeSettings(const talc_model *model) {
  talc_model_info info = {};
  talc_model_get_info(model, &info, nullptr);
  talc_search settings = info.search;
  settings.beams = beams;
  settings.length_penalty = 0.8f;
  settings.no_repeat_ngram = 2;
  settings.renormalize = 1;
  return settings;
}

constexpr float repetitionPenalty = 1.5f;

std::vector<SearchResult> searchAlone(const talc_search &settings, const Input &input) {
  Ids choosable(vocabulary);
  std::iota(choosable.begin(), choosable.end(), 0);
  LogitsProcessors rules;
  rules.noRepeatNgram = settings.no_repeat_ngram;
  TokenScores scores({vocabulary, repetitionPenalty, settings.renormalize != 0}, rules);
  SamplingScratch scratch;
  scores.reserve(scratch);
  BeamSearch search({beams, settings.length_penalty, artifact::EarlyStopping::No, {endToken}}, choosable);
  search.start(input.prompt.data(), input.prompt.size(), input.limit);
  std::vector<Ids> now(1, input.prompt);
  while (!search.ended()) {
    std::vector<std::vector<float>> rows;
    std::vector<const float *> logits;
    for (const Ids &text : now)
      rows.push_back(fakeResult({makeCells(input.source), makeCells(text), text.size(), text.size() - 1}, vocabulary, 0,
                                vocabulary));
    for (const auto &row : rows)
      logits.push_back(row.data());
    search.step(logits.data(), scores, scratch);
    std::vector<Ids> next;
    for (size_t beam = 0; beam < search.beams(); ++beam) {
      next.push_back(now[search.parent(beam)]);
      next.back().push_back(*search.token(beam));
    }
    now = next;
  }
  std::vector<SearchResult> results;
  for (size_t rank = 0; rank < search.resultCount(); ++rank)
    results.push_back({search.result(rank).ids, search.result(rank).score});
  return results;
}

// The end of a request: how often it was reported, its reason and its results.
struct RequestEnd {
  int times = 0;
  talc_ending ending = TALC_ENDING_NONE;
  std::vector<SearchResult> results;
  talc_error error = {};
};

int32_t take(void *user, const talc_event *event) {
  auto &ended = *static_cast<RequestEnd *>(user);
  if (event->kind != TALC_EVENT_END)
    return 0;
  ++ended.times;
  ended.ending = event->ending;
  for (int32_t rank = 0; rank < event->result_count; ++rank) {
    const talc_text_result &result = event->results[rank];
    ended.results.push_back({Ids(result.ids, result.ids + result.count), result.score});
  }
  if (event->error)
    ended.error = *event->error;
  return 0;
}

// A request together with the settings that it points to.
struct SearchRequest {
  SearchRequest(const talc_search &search, const Ids &ids, int32_t limit, RequestEnd *ended)
      : search(search), sampling({0, 0, 1, 0, repetitionPenalty, 0}) {
    request.struct_size = sizeof(request);
    request.ids = ids.data();
    request.count = static_cast<int32_t>(ids.size());
    request.new_tokens = limit;
    request.text_form = TALC_TEXT_NONE;
    request.on_event = take;
    request.user = ended;
  }

  talc_status submit(talc_generator *generator, talc_error *error) {
    request.search = &search;
    request.sampling = &sampling;
    return talc_generator_submit(generator, &request, nullptr, error);
  }

  talc_search search;
  talc_sampling sampling;
  talc_request request = {};
};

talc_generator *createGenerator(FakeSession &fake) {
  talc_generator *generator = nullptr;
  talc_generator_create(fake.session, nullptr, &generator, &fake.error);
  return generator;
}

bool runAll(FakeSession &fake, talc_generator *generator) {
  for (int32_t unfinished = 1; unfinished > 0;)
    if (talc_generator_step(generator, &unfinished, &fake.error) != TALC_OK)
      return expect(false, fake.error.text);
  return true;
}

uint64_t stateUsed(const FakeSession &fake) {
  talc_session_memory memory = {};
  talc_session_get_memory(fake.session, &memory, nullptr, nullptr);
  return memory.state_used;
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
  talc_search settings = makeSettings(fake.model);
  talc_generator *generator = createGenerator(fake);
  std::vector<RequestEnd> ended(inputs.size());
  bool good = expect(generator, fake.error.text);
  for (size_t i = 0; good && i < inputs.size(); ++i) {
    SearchRequest asked(settings, inputs[i].source.empty() ? inputs[i].prompt : inputs[i].source, inputs[i].limit,
                        &ended[i]);
    good = expect(asked.submit(generator, &fake.error) == TALC_OK, fake.error.text);
  }
  good = good && runAll(fake, generator);
  for (size_t i = 0; good && i < inputs.size(); ++i)
    good &= expect(ended[i].times == 1 && ended[i].results == searchAlone(settings, inputs[i]),
                   "input " + std::to_string(i));
  good = good && expect(stateUsed(fake) == 0, "memory after all searches");
  talc_generator_destroy(generator);
  return good;
}

// A search that is given up in the middle has no results, and its slots are free for the next one.
bool checkCancel(FakeSession &fake, talc_generator *generator) {
  const Input input = {{}, {5, 9}, 12};
  talc_search settings = makeSettings(fake.model);
  RequestEnd first, second;
  int32_t unfinished = 0;
  bool good = SearchRequest(settings, input.prompt, 12, &first).submit(generator, &fake.error) == TALC_OK;
  good &= SearchRequest(settings, input.prompt, 12, &second).submit(generator, &fake.error) == TALC_OK;
  for (int i = 0; i < 4; ++i)
    good &= talc_generator_step(generator, &unfinished, &fake.error) == TALC_OK && unfinished == 2;
  good &= talc_generator_cancel(generator, 1, &fake.error) == TALC_OK;
  good &= expect(good && first.times == 0 && runAll(fake, generator), fake.error.text);
  good &=
      expect(first.times == 1 && first.ending == TALC_ENDING_CANCELLED && first.results.empty(), "a cancelled search");
  return good && expect(second.results == searchAlone(settings, input) && stateUsed(fake) == 0, "the search behind it");
}

bool checkSettings(FakeSession &fake, talc_generator *generator) {
  talc_error &e = fake.error;
  const int32_t outside = vocabulary;
  const Ids ids = {5};
  auto wrong = [&](auto change, const char *what, talc_status status = TALC_ERROR_ARGUMENT) {
    SearchRequest asked(makeSettings(fake.model), ids, 4, nullptr);
    change(asked);
    return fails(asked.submit(generator, &e), status, e, what);
  };
  auto wrongSearch = [&](auto change, const char *what) {
    return wrong([&](SearchRequest &asked) { change(asked.search); }, what);
  };
  bool good = wrongSearch([](talc_search &s) { s.beams = -2; }, "search.beams must be 1 to 1024");
  good &=
      wrongSearch([](talc_search &s) { s.length_penalty = NAN; }, "search.length_penalty must be any finite number");
  good &= wrongSearch([](talc_search &s) { s.early_stopping = 3; }, "search.early_stopping must be 0 to 2");
  good &= wrongSearch([](talc_search &s) { s.no_repeat_ngram = -2; }, "search.no_repeat_ngram must be 0 or more");
  good &=
      wrongSearch([](talc_search &s) { s.forbidden_count = 2, s.forbidden = nullptr; }, "forbidden groups are NULL");
  good &= wrongSearch([](talc_search &s) { s.renormalize = 2; }, "search.renormalize must be 0 to 1");
  good &= wrongSearch([](talc_search &s) { s.forced_end = vocabulary; }, "search.forced_end must be -1 to ");
  good &= wrongSearch([](talc_search &s) { s.suppressed_token_count = -2; }, "suppressed tokens are NULL");
  good &= wrongSearch([&](talc_search &s) { s.suppressed_token_count = 1, s.suppressed_tokens = &outside; },
                      "suppressed tokens must be in the vocabulary");
  good &= wrongSearch([&](talc_search &s) { s.begin_suppressed_count = 1, s.begin_suppressed = &outside; },
                      "suppressed tokens must be in the vocabulary");
  good &= wrongSearch([](talc_search &s) { s.min_new_tokens = -2; }, "search.min_new_tokens must be 0 or more");
  good &= wrongSearch([](talc_search &s) { s.min_length = -2; }, "search.min_length must be 0 or more");
  good &= wrong([](SearchRequest &a) { a.sampling.repetition_penalty = -2; },
                "sampling.repetition_penalty must be above 0");
  good &= wrong([](SearchRequest &a) { a.request.ignore_end = 1; }, "beams cannot be combined with ignore_end");
  good &= wrong([](SearchRequest &a) { a.request.log_probabilities = 1; }, "beams cannot be combined with ignore_end");
  good &= wrong([](SearchRequest &a) { a.search.beams = beams + 1; },
                "4 beams need as many slots, but the session has 3", TALC_ERROR_BATCH);
  return good;
}

bool checkErrors(const std::string &path) {
  FakeOptions options;
  options.maxSequence = 48;
  FakeSession fake(path, options, beams);
  talc_generator *generator = fake.session ? createGenerator(fake) : nullptr;
  if (!expect(generator, fake.error.text))
    return false;
  bool good = checkCancel(fake, generator) && checkSettings(fake, generator);
  // A search that is longer than a slot ends when the slot is full; its last token is not evaluated.
  RequestEnd ended;
  const Ids ids = {5};
  SearchRequest asked(makeSettings(fake.model), ids, 100, &ended);
  asked.search.min_new_tokens = 100;
  good &= expect(asked.submit(generator, &fake.error) == TALC_OK && runAll(fake, generator) &&
                     ended.ending == TALC_ENDING_STATE_FULL && ended.results[0].ids.size() == 48,
                 "a search that fills its slots");
  talc_generator_destroy(generator);
  return good;
}

// NaN among the logits ends a search with an error and without a result.
bool checkNothing(const std::string &path) {
  FakeOptions options;
  options.nanFrom = 2;
  FakeSession fake(path, options, beams);
  talc_generator *generator = createGenerator(fake);
  RequestEnd ended;
  bool good = SearchRequest(makeSettings(fake.model), {5, 6}, 4, &ended).submit(generator, &fake.error) == TALC_OK &&
              runAll(fake, generator);
  good = good && ended.ending == TALC_ENDING_FAILED && ended.results.empty() && stateUsed(fake) == 0;
  good = good && fails(ended.error.status, TALC_ERROR_LOGITS, ended.error, "NaN");
  talc_generator_destroy(generator);
  return expect(good, "a search that has nothing to choose from");
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
