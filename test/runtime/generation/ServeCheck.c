/* SPDX-License-Identifier: Apache-2.0 */
/* serve-check ARTIFACT SEED [REQUESTS]: a program in C that serves requests which arrive at random times, each with
   settings of its own, some cancelled. Every text is bit for bit that of its request alone, and serving allocates no
   memory per token. Half of the prompts begin as an earlier one, so that the texts which a generator keeps are used; a
   second one keeps none. Prints what was wrong; the exit status is 0 when nothing was.

   One thread steps, two submit, one cancels. What is asked for follows from SEED; when it comes does not, so that every
   run mixes steps in another way. */
#include "runtime/talc.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
  MOST_REQUESTS = 512,
  MOST_PROMPT = 80,
  MOST_TOKENS = 96,
  MOST_TEXT = 4096,
  MOST_RESULTS = 4,
  MOST_TOP = 3,
  SLOTS = 7,
  SUBMITTERS = 2
};

/* ---- Allocations of the thread that steps ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { COUNTS_ALLOCATIONS = 0 };
static _Thread_local long allocations;
#else
enum { COUNTS_ALLOCATIONS = 1 };
static _Thread_local long allocations;
#define SEEN __attribute__((visibility("default"))) /* by the library of C++, too */
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
SEEN void *malloc(size_t size) {
  ++allocations;
  return __libc_malloc(size);
}
SEEN void *calloc(size_t count, size_t size) {
  ++allocations;
  return __libc_calloc(count, size);
}
SEEN void *realloc(void *old, size_t size) {
  ++allocations;
  return __libc_realloc(old, size);
}
#endif

/* ---- What is asked for ---- */

/* A text as it was told. */
typedef struct Told {
  int32_t count, result_count, result_tokens;
  int32_t ids[MOST_TOKENS];
  size_t text_size;
  char text[MOST_TEXT];
  double log_probabilities[MOST_TOKENS];
  talc_token_probability top[MOST_TOKENS][MOST_TOP];
  double scores[MOST_RESULTS];
  talc_ending ending;
  int32_t ends;
} Told;

typedef struct Asked {
  talc_request request;
  talc_sampling sampling;
  talc_search search;
  talc_logit_bias biases[2];
  int32_t ids[MOST_PROMPT];
  int32_t stop_after; /* on_event gives up after so many tokens; 0: never */
  int32_t cancels;    /* another thread gives up at some time */
  Told alone, served;
  Told *now;
  _Atomic int64_t number;
} Asked;

static Asked *asked;
static int32_t request_count;
static talc_model *model;
static talc_generator *generator;
static atomic_int submitted, finished, failures;

static void fail(const char *what, int32_t index) {
  fprintf(stderr, "failed: %s, request %d\n", what, index);
  atomic_fetch_add(&failures, 1);
}

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "failed: %s\n", error->text);
  exit(1);
}

static uint32_t next(uint64_t *state, uint32_t below) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (uint32_t)(*state >> 33) % below;
}

/* Keeps what it is told without taking memory. */
static int32_t take(void *user, const talc_event *event) {
  Asked *one = user;
  Told *told = one->now;
  if (told->text_size + event->text_size < MOST_TEXT)
    memcpy(told->text + told->text_size, event->text, event->text_size);
  told->text_size += event->text_size;
  if (event->kind == TALC_EVENT_TOKEN && told->count < MOST_TOKENS) {
    told->log_probabilities[told->count] = event->log_probability;
    for (int32_t i = 0; i < event->top_count && i < MOST_TOP; ++i)
      told->top[told->count][i] = event->top[i];
    told->ids[told->count++] = event->ids[0];
  }
  if (event->kind == TALC_EVENT_END) {
    ++told->ends;
    told->ending = event->ending;
    told->result_count = event->result_count;
    for (int32_t i = 0; i < event->result_count && i < MOST_RESULTS; ++i) {
      told->scores[i] = event->results[i].score;
      told->result_tokens += event->results[i].count;
    }
    if (event->result_count > 0 && event->count <= MOST_TOKENS) {
      told->count = event->count;
      memcpy(told->ids, event->ids, (size_t)event->count * sizeof(int32_t));
    }
    if (one->now == &one->served)
      atomic_fetch_add(&finished, 1);
  }
  return one->now == &one->served && one->stop_after > 0 && told->count >= one->stop_after;
}

static void chooseSampling(Asked *one, const talc_model_info *info, uint64_t *state) {
  one->sampling = info->sampling;
  one->sampling.seed = next(state, 1000);
  one->sampling.temperature = next(state, 3) ? 0.5f + 0.25f * (float)next(state, 4) : 0;
  one->sampling.top_k = next(state, 2) ? (int32_t)next(state, 60) : 0;
  one->sampling.top_p = next(state, 2) ? 0.6f + 0.1f * (float)next(state, 5) : 1;
  one->sampling.min_p = next(state, 3) ? 0 : 0.05f;
  one->sampling.repetition_penalty = next(state, 3) ? 1 : 1.2f;
  one->request.sampling = &one->sampling;
}

static void chooseSearch(Asked *one, const talc_model_info *info, uint64_t *state) {
  one->search = info->search;
  one->search.beams = next(state, 4) ? 1 : 2 + (int32_t)next(state, 3);
  one->search.no_repeat_ngram = next(state, 4) ? 0 : 3;
  one->search.min_new_tokens = (int32_t)next(state, 4);
  one->request.search = &one->search;
}

static void choose(Asked *one, const talc_model_info *info, uint64_t *state) {
  static const char *const stops[] = {".", "the"};
  one->request.struct_size = sizeof(talc_request);
  chooseSampling(one, info, state);
  chooseSearch(one, info, state);
  int32_t vocabulary = info->source_vocabulary_size ? info->source_vocabulary_size : info->vocabulary_size;
  one->request.ids = one->ids;
  one->request.count = 1 + (int32_t)next(state, next(state, 4) ? 12 : MOST_PROMPT);
  for (int32_t i = 0; i < one->request.count; ++i)
    one->ids[i] = (int32_t)next(state, (uint32_t)vocabulary);
  if (one > asked && next(state, 2)) { /* as an earlier prompt, and what follows it */
    const Asked *earlier = one - 1 - next(state, (uint32_t)(one - asked > 8 ? 8 : one - asked));
    int32_t common = (int32_t)next(state, (uint32_t)earlier->request.count + 1);
    memcpy(one->ids, earlier->ids, (size_t)common * sizeof(int32_t));
    if (one->request.count < common)
      one->request.count = common;
  }
  one->request.new_tokens = 1 + (int32_t)next(state, MOST_TOKENS);
  one->request.text_form = next(state, 4) ? TALC_TEXT_STREAMED : TALC_TEXT_AT_END;
  if (one->search.beams == 1) {
    one->biases[0] = (talc_logit_bias){one->ids[0], 3};
    one->biases[1] = (talc_logit_bias){one->ids[one->request.count - 1], -3};
    one->request.biases = one->biases;
    one->request.bias_count = next(state, 3) ? 0 : 2;
    one->request.top_log_probabilities = next(state, 3) ? 0 : MOST_TOP;
    one->sampling.presence_penalty = next(state, 3) ? 0 : 0.5f;
    one->sampling.frequency_penalty = next(state, 3) ? 0 : 0.25f;
    one->request.stops = stops;
    one->request.stop_count = next(state, 4) ? 0 : 2;
    one->request.log_probabilities = next(state, 2) == 0;
    one->request.ignore_end = next(state, 3) == 0;
    one->stop_after = next(state, 8) ? 0 : 1 + (int32_t)next(state, 20);
  }
  one->cancels = next(state, 8) == 0;
  one->request.on_event = take;
  one->request.user = one;
}

/* ---- Serving ---- */

static void wait(uint32_t microseconds) {
  struct timespec time = {0, (long)microseconds * 1000};
  nanosleep(&time, NULL);
}

static void submitOne(Asked *one) {
  talc_error error;
  int64_t number;
  one->now = &one->served;
  memset(&one->served, 0, sizeof(one->served));
  check(talc_generator_submit(generator, &one->request, &number, &error), &error);
  atomic_store(&one->number, number);
  atomic_fetch_add(&submitted, 1);
}

static void *submitSome(void *argument) {
  int32_t first = (int32_t)(intptr_t)argument;
  uint64_t state = (uint64_t)first + 99;
  for (int32_t i = first; i < request_count; i += SUBMITTERS) {
    wait(next(&state, 2000));
    submitOne(&asked[i]);
  }
  return NULL;
}

static void *cancelSome(void *argument) {
  uint64_t state = 7;
  (void)argument;
  for (int32_t i = 0; i < request_count; ++i) {
    while (atomic_load(&submitted) <= i)
      wait(100);
    int64_t number = atomic_load(&asked[i].number);
    if (asked[i].cancels && number > 0) {
      wait(next(&state, 3000));
      talc_generator_cancel(generator, number, NULL);
    }
  }
  return NULL;
}

static void serve(void) {
  pthread_t threads[SUBMITTERS + 1];
  talc_error error;
  atomic_store(&submitted, 0);
  atomic_store(&finished, 0);
  for (int32_t i = 0; i < request_count; ++i)
    atomic_store(&asked[i].number, 0);
  for (intptr_t i = 0; i < SUBMITTERS; ++i)
    pthread_create(&threads[i], NULL, submitSome, (void *)i);
  pthread_create(&threads[SUBMITTERS], NULL, cancelSome, NULL);
  while (atomic_load(&finished) < request_count) {
    int32_t unfinished;
    check(talc_generator_step(generator, &unfinished, &error), &error);
    if (unfinished == 0)
      check(talc_generator_wait(generator, 100, &error), &error);
  }
  for (int32_t i = 0; i <= SUBMITTERS; ++i)
    pthread_join(threads[i], NULL);
}

/* ---- What comes out ---- */

static int32_t isPrefixOfIds(const Told *part, const Told *whole) {
  return part->count <= whole->count && memcmp(part->ids, whole->ids, (size_t)part->count * sizeof(int32_t)) == 0;
}

static int32_t isPrefix(const Told *part, const Told *whole) {
  return isPrefixOfIds(part, whole) && part->text_size <= whole->text_size &&
         memcmp(part->text, whole->text, part->text_size) == 0;
}

/* A cancelled text: its tokens are the first of all, and its text is what they mean if no others follow, which may be
   more U+FFFD where a run of bytes is cut. */
static int32_t isCut(const Asked *one) {
  const Told *part = &one->served;
  if (part->count == 0) /* given up before the prompt was evaluated */
    return part->text_size == 0;
  talc_model_info info = {.struct_size = sizeof(info)};
  talc_text_stream *stream;
  const char *text;
  size_t size, at = 0;
  talc_model_get_info(model, &info, NULL);
  int32_t follows = info.kind == TALC_MODEL_DECODER;
  talc_text_stream_create(model, follows ? one->request.ids : NULL, follows ? one->request.count : 0, &stream, NULL);
  int32_t same = isPrefixOfIds(part, &one->alone);
  for (int32_t i = 0; i <= part->count; ++i) {
    if (i < part->count)
      talc_text_stream_push(stream, part->ids[i], &text, &size, NULL);
    else
      talc_text_stream_finish(stream, &text, &size, NULL);
    same &= at + size <= part->text_size && memcmp(part->text + at, text, size) == 0;
    at += size;
  }
  talc_text_stream_destroy(stream);
  return same && at == part->text_size;
}

static int32_t isSame(const Told *a, const Told *b) {
  return a->ending == b->ending && isPrefix(a, b) && isPrefix(b, a) && a->result_count == b->result_count &&
         a->result_tokens == b->result_tokens && memcmp(a->scores, b->scores, sizeof(a->scores)) == 0 &&
         memcmp(a->log_probabilities, b->log_probabilities, sizeof(a->log_probabilities)) == 0 &&
         memcmp(a->top, b->top, sizeof(a->top)) == 0;
}

static void compare(int32_t index) {
  const Asked *one = &asked[index];
  if (one->served.ends != 1 || one->alone.ends != 1)
    fail("not one end", index);
  int32_t cancelled = one->served.ending == TALC_ENDING_CANCELLED;
  if (cancelled && !one->cancels && one->stop_after == 0)
    fail("cancelled by nobody", index);
  if (cancelled ? one->request.text_form == TALC_TEXT_STREAMED && !isCut(one) : !isSame(&one->served, &one->alone))
    fail("not what the request gives alone", index);
}

/* A second time, all at once: lists have their size now, and every request has its memory when it is submitted. */
static void countAllocations(int32_t most_per_request) {
  talc_error error;
  talc_generator_counts before = {.struct_size = sizeof(before)}, after = {.struct_size = sizeof(after)};
  for (int32_t i = 0; i < request_count; ++i)
    submitOne(&asked[i]);
  talc_generator_get_counts(generator, &before, NULL);
  int32_t unfinished = 1;
  long taken = -allocations;
  while (unfinished > 0)
    check(talc_generator_step(generator, &unfinished, &error), &error);
  taken += allocations;
  talc_generator_get_counts(generator, &after, NULL);
  for (int32_t i = 0; i < request_count; ++i)
    compare(i);
  if (COUNTS_ALLOCATIONS && taken > (long)most_per_request * request_count) {
    fprintf(stderr, "failed: %ld allocations for %d requests and %lld tokens\n", taken, request_count,
            (long long)(after.new_tokens - before.new_tokens));
    atomic_fetch_add(&failures, 1);
  }
}

/* The same request twice: where texts are kept, the second one evaluates the last token of its prompt and new ones. */
static void repeat(int32_t keeps) {
  talc_error error;
  talc_generator_counts before = {.struct_size = sizeof(before)}, after = {.struct_size = sizeof(after)};
  int32_t index = 0;
  while (index + 1 < request_count && asked[index].search.beams > 1)
    ++index;
  for (int32_t round = 0; round < 2; ++round) {
    talc_generator_get_counts(generator, &before, NULL);
    submitOne(&asked[index]);
    for (int32_t unfinished = 1; unfinished > 0;)
      check(talc_generator_step(generator, &unfinished, &error), &error);
    compare(index);
  }
  talc_generator_get_counts(generator, &after, NULL);
  if ((int64_t)(after.cached_tokens - before.cached_tokens) != (keeps ? asked[index].request.count - 1 : 0))
    fail("tokens of kept texts", index);
}

/* One after another; a few by talc_generate. */
static void serveAlone(void) {
  enum { BY_FUNCTION = 4 };
  talc_error error;
  talc_session *session;
  talc_session_options options = {.threads = 1, .slots = 4};
  check(talc_session_create(model, &options, &session, &error), &error);
  check(talc_generator_create(session, NULL, &generator, &error), &error);
  for (int32_t i = 0; i < request_count; ++i) {
    asked[i].now = &asked[i].alone;
    if (i < BY_FUNCTION) {
      check(talc_generate(model, &asked[i].request, &error), &error);
      continue;
    }
    check(talc_generator_submit(generator, &asked[i].request, NULL, &error), &error);
    for (int32_t unfinished = 1; unfinished > 0;)
      check(talc_generator_step(generator, &unfinished, &error), &error);
  }
  talc_generator_destroy(generator);
  talc_session_destroy(session);
}

int main(int argc, char **argv) {
  talc_error error;
  talc_model_info info = {0};
  talc_session *session;
  talc_session_options options = {.threads = 2, .slots = SLOTS};
  talc_generator_options steps = {.struct_size = sizeof(steps), .step_tokens = 24};
  uint64_t state = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  request_count = argc > 3 ? atoi(argv[3]) : 64;
  asked = calloc(MOST_REQUESTS, sizeof(Asked));
  if (argc < 2 || request_count < 1 || request_count > MOST_REQUESTS || !asked)
    return 2;
  check(talc_model_open(argv[1], NULL, &model, &error), &error);
  check(talc_model_get_info(model, &info, &error), &error);
  for (int32_t i = 0; i < request_count; ++i)
    choose(&asked[i], &info, &state);
  serveAlone();
  check(talc_session_create(model, &options, &session, &error), &error);
  for (steps.kept_texts = SLOTS; steps.kept_texts >= 0; steps.kept_texts -= SLOTS) {
    check(talc_generator_create(session, &steps, &generator, &error), &error);
    serve();
    for (int32_t i = 0; i < request_count; ++i)
      compare(i);
    repeat(info.kind == TALC_MODEL_DECODER && steps.kept_texts > 0);
    countAllocations(steps.kept_texts > 0 ? 3 : 1); /* a text that is kept is copied */
    talc_generator_destroy(generator);
  }
  talc_session_destroy(session);
  talc_model_close(model);
  free(asked);
  return atomic_load(&failures) ? 1 : 0;
}
