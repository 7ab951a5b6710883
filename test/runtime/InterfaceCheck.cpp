// SPDX-License-Identifier: Apache-2.0
// PATH: what talc.h promises to programs of other versions, every documented error of a talc_request, and what its
// events tell. PATH is where artifacts are written.
#include "test/runtime/FakeSession.h"
#include "test/runtime/RuntimeChecks.h"

#include <cmath>
#include <cstring>

namespace talc::test {
namespace {

// ---- Versions

// A struct as a later version might have it.
template <typename Struct> struct Later {
  Struct known;
  uint32_t more[4];
};

bool checkSizes(FakeSession &fake) {
  talc_error &e = fake.error;
  talc_session *session = nullptr;
  Later<talc_session_options> later = {};
  later.known = {sizeof(later), 1, 2};
  bool good = expect(talc_session_create(fake.model, &later.known, &session, &e) == TALC_OK, "a later program");
  talc_session_destroy(session);
  later.more[1] = 1;
  good &= fails(talc_session_create(fake.model, &later.known, &session, &e), TALC_ERROR_ARGUMENT, e, "does not know");
  later.known.struct_size = 3;
  good &= fails(talc_session_create(fake.model, &later.known, &session, &e), TALC_ERROR_ARGUMENT, e,
                "talc_session_options: struct_size is 3");
  Later<talc_model_info> info;
  memset(&info, 0x55, sizeof(info));
  good &= fails(talc_model_get_info(fake.model, &info.known, &e), TALC_ERROR_ARGUMENT, e, "struct_size is 1431655765");
  info.known.struct_size = sizeof(info);
  good &= expect(talc_model_get_info(fake.model, &info.known, &e) == TALC_OK && info.known.vocabulary_size == 260 &&
                     info.more[0] == 0 && info.more[3] == 0,
                 "what a later program knows more is 0");
  memset(&info, 0x55, sizeof(info));
  info.known.struct_size = 0;
  good &= expect(talc_model_get_info(fake.model, &info.known, &e) == TALC_OK && info.more[0] == 0x55555555,
                 "0 is the first version");
  talc_sampling sampling = info.known.sampling;
  sampling.reserved[4] = 1;
  talc_sampler *sampler = nullptr;
  return fails(talc_sampler_create(fake.session, &sampling, nullptr, 0, &sampler, &e), TALC_ERROR_ARGUMENT, e,
               "reserved must be 0") &&
         good;
}

bool checkNames(const FakeSession &fake) {
  bool good =
      expect(talc_version_number() == TALC_VERSION_NUMBER && strcmp(talc_version(), TALC_VERSION) == 0, "version");
  good &= expect(strcmp(talc_status_name(TALC_ERROR_STATE_FULL), "TALC_ERROR_STATE_FULL") == 0, "name of a status");
  good &= expect(strcmp(talc_status_name(static_cast<talc_status>(7)), "unknown") == 0, "name of no status");
  size_t size = 9;
  const char *spelling = talc_token_spelling(fake.model, 'a', &size);
  good &= expect(std::string(spelling, size) == "<0x61>", "spelling of a token");
  good &= expect(strcmp(talc_token_spelling(fake.model, 999, &size), "") == 0 && size == 0, "spelling of no token");
  return good;
}

// ---- Requests

struct Heard {
  std::string text;
  std::vector<int32_t> ids;
  std::vector<float> logits;
  std::vector<double> logProbabilities;
  talc_ending ending = TALC_ENDING_NONE;
  int prompts = 0, ends = 0, stopAfter = 1 << 20;
};

int32_t hear(void *user, const talc_event *event) {
  auto &heard = *static_cast<Heard *>(user);
  heard.text.append(event->text, event->text_size);
  heard.prompts += event->kind == TALC_EVENT_PROMPT;
  heard.ends += event->kind == TALC_EVENT_END;
  if (event->kind == TALC_EVENT_PROMPT)
    heard.logits.insert(heard.logits.end(), event->logits, event->logits + event->logit_rows * 260);
  if (event->kind == TALC_EVENT_TOKEN) {
    heard.ids.push_back(event->ids[0]);
    heard.logProbabilities.push_back(event->log_probability);
  }
  if (event->kind == TALC_EVENT_END)
    heard.ending = event->ending;
  return static_cast<int>(heard.ids.size()) >= heard.stopAfter;
}

template <typename Change> Heard generate(FakeSession &fake, Change change) {
  Heard heard;
  talc_request request = {};
  request.text = "xab";
  request.new_tokens = 6;
  request.on_event = hear;
  request.user = &heard;
  change(request);
  expect(talc_generate(fake.model, &request, &fake.error) == TALC_OK, fake.error.text);
  return heard;
}

// The model continues xab with cdefghab...
bool checkEvents(FakeSession &fake) {
  auto nothing = [](talc_request &) {};
  Heard usual = generate(fake, nothing);
  bool good = expect(usual.text == "cdefgh" && usual.ids.size() == 6 && usual.ending == TALC_ENDING_LIMIT &&
                         usual.prompts == 1 && usual.ends == 1 && usual.logits.empty(),
                     "a usual request: " + usual.text);
  static const char *const stops[] = {"fg", "zzz", "fa"};
  auto stop = [](talc_request &r) { r.stops = stops, r.stop_count = 3; };
  Heard stopped = generate(fake, stop);
  good &= expect(stopped.text == "cde" && stopped.ending == TALC_ENDING_STOP && stopped.ids.size() == 5, stopped.text);
  Heard late = generate(fake, [&](talc_request &r) { stop(r), r.text_form = TALC_TEXT_AT_END; });
  good &= expect(late.text == "cde" && late.ending == TALC_ENDING_STOP, "stopped, at the end: " + late.text);
  Heard logits = generate(fake, [](talc_request &r) { r.prompt_logits = 1, r.log_probabilities = 1; });
  good &= expect(logits.logits.size() == 3 * 260 && logits.text == usual.text, "logits of a prompt");
  double sum = 0;
  for (int i = 0; i < 260; ++i)
    sum += std::exp(double(logits.logits[2 * 260 + i]));
  double expected = double(logits.logits[2 * 260 + logits.ids[0]]) - std::log(sum);
  good &=
      expect(std::fabs(logits.logProbabilities[0] - expected) < 1e-9 && usual.logProbabilities[0] == 0, "probability");
  Heard promptOnly = generate(fake, [](talc_request &r) { r.new_tokens = TALC_NONE; });
  good &= expect(promptOnly.ids.empty() && promptOnly.prompts == 1 && promptOnly.ending == TALC_ENDING_LIMIT,
                 "only the prompt");
  Heard quiet = generate(fake, [](talc_request &r) { r.text_form = TALC_TEXT_NONE; });
  return expect(quiet.text.empty() && quiet.ids == usual.ids, "no text") && good;
}

bool checkCancel(FakeSession &fake) {
  Heard heard;
  heard.stopAfter = 3;
  talc_request request = {};
  request.text = "xab", request.on_event = hear, request.user = &heard;
  bool good = expect(talc_generate(fake.model, &request, &fake.error) == TALC_OK && heard.ids.size() == 3 &&
                         heard.ending == TALC_ENDING_CANCELLED && heard.ends == 1,
                     "cancelled by its callback");
  // One that waits, and one that nobody knows.
  talc_generator *generator = nullptr;
  int32_t unfinished = 9;
  Heard waits;
  request.user = &waits;
  talc_generator_create(fake.session, nullptr, &generator, nullptr);
  good &= talc_generator_submit(generator, &request, nullptr, nullptr) == TALC_OK;
  good &= talc_generator_cancel(generator, 1, nullptr) == TALC_OK &&
          talc_generator_cancel(generator, 77, nullptr) == TALC_OK;
  good &= talc_generator_step(generator, &unfinished, nullptr) == TALC_OK && unfinished == 0;
  talc_generator_destroy(generator);
  return expect(good && waits.ends == 1 && waits.ending == TALC_ENDING_CANCELLED && waits.prompts == 0,
                "cancelled early");
}

bool checkRequests(FakeSession &fake) {
  talc_generator *generator = nullptr;
  talc_error &e = fake.error;
  const int32_t ids[] = {5, 999};
  const std::vector<int32_t> manyIds(65, 7);
  static const char *const empty[] = {""};
  talc_generator_create(fake.session, nullptr, &generator, &e);
  auto wrong = [&](auto change, talc_status status, const char *what) {
    talc_request request = {};
    request.text = "x";
    change(request);
    return fails(talc_generator_submit(generator, &request, nullptr, &e), status, e, what);
  };
  auto argument = [&](auto change, const char *what) { return wrong(change, TALC_ERROR_ARGUMENT, what); };
  bool good = argument([](talc_request &r) { r.text = nullptr; }, "either text or ids");
  good &= argument([&](talc_request &r) { r.ids = ids, r.count = 1; }, "either text or ids");
  good &= argument([](talc_request &r) { r.text = nullptr, r.count = 1; }, "either text or ids");
  good &= wrong([&](talc_request &r) { r.text = nullptr, r.ids = ids, r.count = 2; }, TALC_ERROR_TOKEN, "is 999");
  good &= wrong([&](talc_request &r) { r.text = nullptr, r.ids = ids; }, TALC_ERROR_BATCH, "has no tokens");
  good &= wrong([&](talc_request &r) { r.text = nullptr, r.ids = manyIds.data(), r.count = 65; }, TALC_ERROR_STATE_FULL,
                "has 65 tokens");
  good &= wrong([](talc_request &r) { r.text = "\xff"; }, TALC_ERROR_TEXT, "byte 0 (0xff)");
  good &= wrong([&](talc_request &r) { r.beginning = ids, r.beginning_count = 1; }, TALC_ERROR_KIND, "has a beginning");
  good &= wrong([](talc_request &r) { r.prefix = 1; }, TALC_ERROR_KIND, "the model uses none");
  good &= argument([](talc_request &r) { r.new_tokens = -2; }, "new_tokens must be 0 or more");
  good &= argument([](talc_request &r) { r.stop_count = 1; }, "stops is NULL");
  good &= argument([](talc_request &r) { r.stop_count = 1, r.stops = empty; }, "NULL or empty");
  good &=
      argument([](talc_request &r) { r.stop_count = 1, r.stops = empty, r.text_form = static_cast<talc_text_form>(3); },
               "text_form must be 0 to 2");
  good &= fails(talc_generator_step(nullptr, nullptr, &e), TALC_ERROR_ARGUMENT, e, "generator is NULL");
  talc_generator_destroy(generator);
  return good;
}

bool checkEncoder(const std::string &path) {
  FakeOptions options;
  options.kind = artifact::ModelKind::Encoder;
  FakeSession fake(path, options, 1);
  talc_generator *generator = nullptr;
  talc_request request = {};
  request.text = "x";
  talc_error &e = fake.error;
  return fails(talc_generator_create(fake.session, nullptr, &generator, &e), TALC_ERROR_KIND, e, "is an encoder") &&
         fails(talc_generate(fake.model, &request, &e), TALC_ERROR_KIND, e, "is an encoder");
}

}  // namespace

bool checkInterface(const Arguments &arguments) {
  FakeOptions options;
  options.cycle = "abcdefgh";
  options.maxSequence = 64;
  FakeSession fake(arguments.at(0), options, 2);
  if (!expect(fake.session, fake.error.text))
    return false;
  bool good = checkSizes(fake) && checkNames(fake);
  good = checkEvents(fake) && checkCancel(fake) && checkRequests(fake) && good;
  return checkEncoder(arguments.at(0) + ".encoder") && good;
}

}  // namespace talc::test
