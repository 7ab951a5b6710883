/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a model in memory that is known before: prints the budget, takes one block of it, and from then on allocates
   nothing. On a small device the budget is what decides whether a model fits, and a run that has started cannot fail
   for want of memory.

     talc compile examples/models/tales-gpt2 --max-seq=100 --emit=lib -o libsmall.so      writes libsmall.so and small.h
     cc -I . examples/c-api/Budget.c -L . -lsmall -Wl,-rpath,. -o budget
     ./budget */
#include "small.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 1, PROMPT = 16, ALIGNMENT = 4096 };

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

/* All that the session takes: a sequence as long as the model was compiled for, when its longest step has PROMPT
 * tokens. */
static uint64_t printBudget(const talc_model_info *info) {
  uint64_t group = info->state_token_group, longest = (uint64_t)info->max_sequence, page = 4096;
  uint64_t kvCache = (longest + group - 1) / group * group * info->state_bytes_per_token;
  kvCache = (kvCache + page - 1) / page * page; /* a slot begins on a page */
  uint64_t arena =
      info->arena_bytes_fixed + PROMPT * info->arena_bytes_per_token + THREADS * info->arena_bytes_per_thread;
  uint64_t logits = sizeof(float) * (uint64_t)info->vocabulary_size;
  printf("weights      %8llu bytes, mapped\n", (unsigned long long)info->weight_bytes);
  printf("KV cache     %8llu bytes for %llu tokens\n", (unsigned long long)kvCache, (unsigned long long)longest);
  printf("temporaries  %8llu bytes\n", (unsigned long long)arena);
  printf("logits       %8llu bytes\n", (unsigned long long)logits);
  return kvCache + arena + logits;
}

/* The block, handed out from its beginning; nothing comes back before the end. */
typedef struct Block {
  unsigned char *memory;
  uint64_t size, used, asked;
} Block;

static void *take(void *user, uint64_t size, uint64_t alignment) {
  Block *block = user;
  uint64_t begin = (block->used + alignment - 1) / alignment * alignment;
  if (begin + size > block->size)
    return NULL;
  block->used = begin + size;
  block->asked += size;
  return block->memory + begin;
}

static void giveBack(void *user, void *memory, uint64_t size) {
  (void)user, (void)memory, (void)size;
}

static size_t allocated(void) {
  struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

int main(void) {
  talc_error error;
  talc_model *model;
  talc_model_info info = {0};
  talc_session *session;
  talc_sampler *sampler;
  check(small_open(NULL, &model, &error), &error);
  check(talc_model_get_info(model, &info, &error), &error);
  uint64_t budget = printBudget(&info);

  Block block = {.size = budget + 3 * ALIGNMENT}; /* three parts, each on a page */
  block.memory = aligned_alloc(ALIGNMENT, (block.size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
  if (!block.memory)
    return 1;
  talc_allocator allocator = {take, giveBack, &block};
  talc_session_options options = {.threads = THREADS, .allocator = &allocator};
  check(talc_session_create(model, &options, &session, &error), &error);
  check(talc_sampler_create(session, NULL, NULL, info.max_sequence, &sampler, &error), &error);

  /* The longest step comes first: no later one needs more. */
  int32_t ids[PROMPT] = {0}, id;
  talc_sequence step = {.count = PROMPT, .ids = ids, .wanted = {{.rows = TALC_ROWS_LAST}}};
  check(talc_sampler_accept(sampler, ids, PROMPT, &error), &error);
  check(talc_evaluate(session, &step, 1, &error), &error);
  size_t before = allocated();
  for (step.count = 1, step.ids = &id; talc_slot_length(session, 0) < info.max_sequence;) {
    check(talc_sample(sampler, talc_logits(session, 0, NULL), &id, &error), &error);
    check(talc_evaluate(session, &step, 1, &error), &error);
  }
  size_t after = allocated();

  printf("%d tokens later: %s, %lld bytes allocated since the start\n", info.max_sequence,
         block.asked == budget ? "exactly as said" : "not as said", (long long)(after - before));
  int failed = block.asked != budget;
  talc_sampler_destroy(sampler);
  talc_session_destroy(session);
  talc_model_close(model);
  free(block.memory);
  return failed;
}
