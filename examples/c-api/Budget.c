/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model in memory that is known before: prints the budget, starts, and from then on allocates nothing. On a
   small device the budget is what decides whether a model fits, and a run that has started cannot fail for want of
   memory.

     talc compile examples/models/tales-gpt2 --emit=lib -o libtales.so      writes libtales.so and tales.h
     cc -I . examples/c-api/Budget.c -L . -ltales -Wl,-rpath,. -o budget
     ./budget 100 */
#include "tales.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 1, PROMPT = 16 };

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

/* All that a sequence of `tokens` tokens takes, when its longest step has PROMPT of them. */
static uint64_t printBudget(const talc_model_info *info, uint64_t tokens) {
  uint64_t group = info->state_token_group;
  uint64_t state = (tokens + group - 1) / group * group * info->state_bytes_per_token;
  uint64_t arena =
      info->arena_bytes_fixed + PROMPT * info->arena_bytes_per_token + THREADS * info->arena_bytes_per_thread;
  uint64_t logits = sizeof(float) * (uint64_t)info->vocabulary_size;
  printf("weights      %8llu bytes, mapped\n", (unsigned long long)info->weight_bytes);
  printf("state        %8llu bytes for %llu tokens\n", (unsigned long long)state, (unsigned long long)tokens);
  printf("temporaries  %8llu bytes\n", (unsigned long long)arena);
  printf("logits       %8llu bytes\n", (unsigned long long)logits);
  return state + arena + logits;
}

static size_t allocated(void) {
  struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

int main(int argc, char **argv) {
  long tokens = argc > 1 ? strtol(argv[1], NULL, 10) : 100;
  talc_error error;
  talc_model *model;
  talc_model_info info = {0};
  talc_session *session;
  talc_sampler *sampler;
  check(tales_open(NULL, &model, &error), &error);
  check(talc_model_get_info(model, &info, &error), &error);
  if (tokens <= PROMPT || tokens > info.max_sequence) {
    fprintf(stderr, "usage: budget TOKENS     more than %d, at most %d\n", PROMPT, info.max_sequence);
    return 2;
  }
  uint64_t budget = printBudget(&info, (uint64_t)tokens);
  talc_session_options options = {.threads = THREADS};
  check(talc_session_create(model, &options, &session, &error), &error);
  check(talc_sampler_create(session, NULL, NULL, (int32_t)tokens, &sampler, &error), &error);

  /* The longest step comes first: no later one needs more. */
  int32_t ids[PROMPT] = {0}, id;
  talc_sequence step = {.count = PROMPT, .ids = ids, .wanted = {{.rows = TALC_ROWS_LAST}}};
  check(talc_sampler_accept(sampler, ids, PROMPT, &error), &error);
  check(talc_evaluate(session, &step, 1, &error), &error);
  size_t before = allocated();
  for (step.count = 1, step.ids = &id; talc_slot_length(session, 0) < tokens;) {
    check(talc_sample(sampler, talc_logits(session, 0, NULL), &id, &error), &error);
    check(talc_evaluate(session, &step, 1, &error), &error);
  }
  size_t after = allocated();

  talc_session_memory memory = {0};
  check(talc_session_get_memory(session, &memory, NULL, &error), &error);
  uint64_t used = memory.state_used + memory.arena + memory.logits;
  printf("%ld tokens later: %s, %lld bytes allocated since the start\n", tokens,
         used == budget ? "exactly as said" : "not as said", (long long)(after - before));
  talc_sampler_destroy(sampler);
  talc_session_destroy(session);
  talc_model_close(model);
  return used != budget;
}
