/* SPDX-License-Identifier: Apache-2.0 */
/* Continues a text as talc_generate does, step by step: tokenize, evaluate, sample, print as it comes. For programs
   that decide themselves what is evaluated and what is chosen.

     talc compile examples/models/tales-gpt2 --emit=lib -o libtales.so      writes libtales.so and tales.h
     cc -I . examples/c-api/Tell.c -L . -ltales -Wl,-rpath,. -o tell
     ./tell "Once there was" */
#include "tales.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NEW_TOKENS = 200 };

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

/* The ids of a text; the caller frees them. */
static int32_t *tokenize(const talc_model *model, const char *text, int32_t *count) {
  talc_error error;
  check(talc_tokenize(model, text, strlen(text), NULL, 0, count, &error), &error);
  int32_t *ids = malloc((size_t)*count * sizeof(int32_t) + 1);
  if (!ids)
    exit(1);
  check(talc_tokenize(model, text, strlen(text), ids, *count, count, &error), &error);
  return ids;
}

/* Evaluates the prompt in one step, then one token per step, until an end token or MAX_NEW_TOKENS. */
static void tell(const talc_model *model, const int32_t *prompt, int32_t count) {
  talc_error error;
  talc_session *session;
  talc_sampler *sampler;
  talc_text_stream *stream;
  check(talc_session_create(model, NULL, &session, &error), &error);
  check(talc_sampler_create(session, NULL, NULL, 0, &sampler, &error), &error);
  check(talc_text_stream_create(model, prompt, count, &stream, &error), &error);
  check(talc_sampler_accept(sampler, prompt, count, &error), &error);

  const char *text;
  size_t size;
  int32_t id;
  talc_sequence step = {.slot = 0, .count = count, .ids = prompt, .wanted = {{.rows = TALC_ROWS_LAST}}};
  for (int i = 0; i < MAX_NEW_TOKENS; ++i) {
    check(talc_evaluate(session, &step, 1, &error), &error);
    check(talc_sample(sampler, talc_logits(session, 0, NULL), &id, &error), &error);
    if (talc_is_end_token(model, id))
      break;
    check(talc_text_stream_push(stream, id, &text, &size, &error), &error);
    fwrite(text, 1, size, stdout);
    fflush(stdout);
    step.count = 1;
    step.ids = &id;
  }
  check(talc_text_stream_finish(stream, &text, &size, &error), &error);
  fwrite(text, 1, size, stdout);
  putchar('\n');

  talc_text_stream_destroy(stream);
  talc_sampler_destroy(sampler);
  talc_session_destroy(session);
}

int main(int argc, char **argv) {
  const char *prompt = argc > 1 ? argv[1] : "Once there was";
  talc_error error;
  talc_model *model;
  check(tales_open(NULL, &model, &error), &error);
  int32_t count;
  int32_t *ids = tokenize(model, prompt, &count);
  printf("%s", prompt);
  tell(model, ids, count);
  free(ids);
  talc_model_close(model);
  return 0;
}
