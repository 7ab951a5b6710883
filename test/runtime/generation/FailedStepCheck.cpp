// SPDX-License-Identifier: Apache-2.0
// ARTIFACT: a step of a generator that fails, whichever allocation is refused and wherever it is aborted, loses and
// changes nothing: when it is tried again, every request has the events of an undisturbed run.
#include "test/runtime/Allocations.h"
#include "test/runtime/RuntimeChecks.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace talc::test {
namespace {

constexpr int32_t requestCount = 9;

// These say what fails in a run; numbers count over all of its steps.
struct Faults {
  long refusal = -1, abort = -1;   // the allocation that is refused, and the question that is answered with yes
  long abortPeriod = 0;            // every so many questions are answered so
  bool refusesAfterAbort = false;  // the next allocation, too
  bool refusesEach = false;        // of each step the first allocation, then of the next try the second, ...
  long asked = 0, allocated = 0;   // so far
  long mostAsked = 0;              // in a step
  int32_t failures = 0;
};

int32_t isOver(void *user) {
  auto &faults = *static_cast<Faults *>(user);
  const long number = faults.asked++;
  const bool over = number == faults.abort || (faults.abortPeriod > 0 && number % faults.abortPeriod == 1);
  if (over && faults.refusesAfterAbort)
    refuseAllocation(0);
  return over;
}

// The events of a request, kept without allocating.
struct Transcript {
  int32_t givesUpAfter = 0, tokens = 0;
  size_t size = 0;
  char text[1 << 14] = "";

  void write(const char *format, ...) __attribute__((format(printf, 2, 3))) {
    va_list arguments;
    va_start(arguments, format);
    size += vsnprintf(text + size, sizeof(text) - size, format, arguments);
    va_end(arguments);
    size = std::min(size, sizeof(text) - 1);
  }
};

// Prompts may come in other parts.
int32_t take(void *user, const talc_event *event) {
  auto &transcript = *static_cast<Transcript *>(user);
  if (event->kind == TALC_EVENT_TOKEN)
    transcript.write("token %d %a", event->ids[0], event->log_probability);
  if (event->kind == TALC_EVENT_END)
    transcript.write("end %d %d %s", event->ending, event->count, event->error ? event->error->text : "");
  for (int32_t i = 0; i < event->result_count; ++i)
    transcript.write(" result %d %a", event->results[i].count, event->results[i].score);
  for (int32_t i = 0; i < event->count && event->kind != TALC_EVENT_TOKEN; ++i)
    transcript.write(" %d", event->ids[i]);
  for (int32_t i = 0; i < event->logit_rows; ++i)
    transcript.write(" %a", event->logits[0]);
  transcript.write(" '%.*s'\n", static_cast<int>(event->text_size), event->text);
  transcript.tokens += event->kind == TALC_EVENT_TOKEN;
  return transcript.givesUpAfter > 0 && transcript.tokens >= transcript.givesUpAfter;
}

// Requests of all kinds, which join one after another.
class Run {
public:
  Run(const talc_model *model, Faults &faults) : faults(faults), transcripts(requestCount) {
    info.struct_size = sizeof(info);
    talc_model_get_info(model, &info, nullptr);
    talc_session_options options = {};
    options.struct_size = sizeof(options);
    options.threads = 2;
    options.slots = 5;
    options.should_abort = isOver;
    options.abort_user = &faults;
    const talc_generator_options steps = {sizeof(steps), 48};
    talc_session_create(model, &options, &session, nullptr);
    talc_generator_create(session, &steps, &generator, nullptr);
  }
  ~Run() {
    talc_generator_destroy(generator);
    talc_session_destroy(session);
  }

  // All events; empty when a step failed without reason.
  std::string run() {
    int32_t unfinished = 1;
    for (int32_t steps = 0; unfinished > 0 || steps < 2 * requestCount; ++steps) {
      if (steps % 2 == 0 && steps / 2 < requestCount)
        submit(steps / 2);
      if (steps == 11)
        talc_generator_cancel(generator, 6, nullptr);
      if (!step(unfinished))
        return {};
    }
    std::string all;
    for (const Transcript &one : transcripts)
      all.append("request\n").append(one.text, one.size);
    return all;
  }

private:
  void submit(int32_t index) {
    const int32_t vocabulary = info.source_vocabulary_size ? info.source_vocabulary_size : info.vocabulary_size;
    std::vector<int32_t> ids(index == 1 || index == 3 ? std::min(info.max_sequence / 2, 150) : 3 + index);
    for (size_t i = 0; i < ids.size(); ++i)
      ids[i] = static_cast<int32_t>(4 + index + i * i % 23) % vocabulary;
    talc_sampling sampling = {index % 2 ? 0.8f : 0, 40, 0.9f, 0.01f, 1.1f, 7};
    talc_search search = info.search;
    search.beams = index == 2 || index == 6 ? 3 : 1;
    search.min_new_tokens = 2;
    const char *stops[] = {"e", "zz"};
    talc_request request = {};
    request.struct_size = sizeof(request);
    request.ids = ids.data();
    request.count = static_cast<int32_t>(ids.size());
    request.sampling = &sampling;
    request.search = &search;
    request.new_tokens = index == 7 ? TALC_NONE : 12;
    request.prompt_logits = index == 7;
    request.log_probabilities = search.beams == 1;
    request.text_form = index == 8 ? TALC_TEXT_AT_END : TALC_TEXT_STREAMED;
    request.stops = stops;
    request.stop_count = index == 3 && info.has_tokenizer ? 2 : 0;
    request.on_event = take;
    request.user = &transcripts[index];
    transcripts[index].givesUpAfter = index == 4 ? 3 : 0;
    expect(talc_generator_submit(generator, &request, nullptr, &error) == TALC_OK, error.text);
  }

  bool step(int32_t &unfinished) {
    for (long tries = 0;; ++tries) {
      const long before = allocationCount(), askedBefore = faults.asked;
      refuseAllocation(faults.refusesEach ? tries : faults.refusal < 0 ? -2 : faults.refusal - faults.allocated);
      talc_status status = talc_generator_step(generator, &unfinished, &error);
      const bool refused = refusedAllocation();
      refuseAllocation(-2);
      faults.allocated += allocationCount() - before;
      faults.mostAsked = std::max(faults.mostAsked, faults.asked - askedBefore);
      if (status == TALC_OK)
        return true;
      ++faults.failures;
      if (!expect(status == TALC_ERROR_ABORTED || (status == TALC_ERROR_MEMORY && refused), error.text) ||
          !expect(unfinished > 0, "a failed step has unfinished requests"))
        return false;
    }
  }

  Faults &faults;
  std::vector<Transcript> transcripts;
  talc_model_info info = {};
  talc_session *session = nullptr;
  talc_generator *generator = nullptr;
  talc_error error = {};
};

bool compare(const talc_model *model, Faults &faults, const std::string &expected, const std::string &what) {
  const std::string events = Run(model, faults).run();
  return expect(events == expected, what + ": " + events + "expected: " + expected);
}

bool checkFaults(const talc_model *model) {
  constexpr long runs = 40;  // of a kind
  Faults none, each;
  const std::string expected = Run(model, none).run();
  bool good = expect(!expected.empty() && none.asked > 0, "the undisturbed run");
  each.refusesEach = true;
  good = good && compare(model, each, expected, "allocations of each step refused one after another") &&
         expect(none.allocated == 0 || each.failures > 0, "some are");
  for (long n = 0; good && n < none.allocated; n += 1 + none.allocated / runs) {
    Faults faults;
    faults.refusal = n;
    good = compare(model, faults, expected, "allocation " + std::to_string(n));
  }
  for (long n = 0; good && n < none.asked; n += 1 + none.asked / runs) {
    Faults faults;
    faults.abort = n;
    faults.refusesAfterAbort = n % 3 == 0;
    good = compare(model, faults, expected, "abort " + std::to_string(n));
  }
  for (long period : {none.mostAsked + 1, 2 * none.mostAsked + 3, 5 * none.mostAsked + 1})
    if (good) {
      Faults faults;
      faults.abortPeriod = period;
      good = compare(model, faults, expected, "aborts, one of " + std::to_string(period));
    }
  return good;
}

}  // namespace

bool checkFailedSteps(const Arguments &arguments) {
  talc_model *model = nullptr;
  talc_error error = {};
  bool good = expect(talc_model_open(arguments.at(0).c_str(), nullptr, &model, &error) == TALC_OK, error.text) &&
              checkFaults(model);
  talc_model_close(model);
  return good;
}

}  // namespace talc::test
