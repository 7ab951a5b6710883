/* SPDX-License-Identifier: Apache-2.0 */
/* Tells a story together with the user: every line from standard input goes on with it, and the model adds a sentence.
   What was said is never evaluated again: it stays in the session's slot.

     talc compile examples/models/tales-gpt2 --emit=lib -o libtales.so      writes libtales.so and tales.h
     cc -I . examples/c-api/Story.c -L . -ltales -Wl,-rpath,. -o story
     ./story 7                                                              7: the seed of its choices */
#include "tales.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINE = 1000 };

static const talc_model *model;
static talc_session *session;
static talc_sampler *sampler;
static int32_t longest;

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

/* Evaluates tokens behind those that the slot has. Returns 0 when they do not fit. */
static int add(const int32_t *ids, int32_t count) {
  talc_error error;
  if (talc_slot_length(session, 0) + count > longest)
    return 0;
  talc_sequence step = {.count = count, .ids = ids, .wanted = {{.rows = TALC_ROWS_LAST}}};
  check(talc_evaluate(session, &step, 1, &error), &error);
  return 1;
}

static int say(const char *line) {
  talc_error error;
  int32_t ids[MAX_LINE], count;
  check(talc_tokenize(model, line, strlen(line), ids, MAX_LINE, &count, &error), &error);
  check(talc_sampler_accept(sampler, ids, count, &error), &error);
  return add(ids, count);
}

/* Adds tokens and prints them, until a sentence or the story ends. Returns 0 when it was the story. */
static int answer(void) {
  talc_error error;
  talc_text_stream *stream;
  const char *text;
  size_t size;
  int going = 1, first = 1, sentence = 0;
  check(talc_text_stream_create(model, NULL, 0, &stream, &error), &error);
  while (going && !sentence) {
    int32_t id;
    check(talc_sample(sampler, talc_logits(session, 0, NULL), &id, &error), &error);
    going = !talc_is_end_token(model, id) && add(&id, 1);
    check(going ? talc_text_stream_push(stream, id, &text, &size, &error)
                : talc_text_stream_finish(stream, &text, &size, &error),
          &error);
    int space = first && size > 0 && text[0] == ' ';
    fwrite(text + space, 1, size - (size_t)space, stdout);
    first = first && size == 0;
    sentence = size > 0 && strchr(".!?", text[size - 1]) != NULL;
  }
  putchar('\n');
  fflush(stdout);
  talc_text_stream_destroy(stream);
  return going;
}

int main(int argc, char **argv) {
  talc_error error;
  talc_model *opened;
  talc_model_info info = {0};
  check(tales_open(NULL, &opened, &error), &error);
  model = opened;
  check(talc_model_get_info(model, &info, &error), &error);
  longest = info.max_sequence;
  talc_sampling sampling = {.temperature = 0.8f, .seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 0};
  check(talc_session_create(model, NULL, &session, &error), &error);
  check(talc_sampler_create(session, &sampling, NULL, 0, &sampler, &error), &error);

  char line[MAX_LINE] = " "; /* a space parts a line from what came before */
  for (int going = 1; going && fgets(line + 1, MAX_LINE - 1, stdin);) {
    line[strcspn(line, "\n")] = 0;
    int begun = talc_slot_length(session, 0) > 0;
    going = line[1] == 0 || say(begun ? line : line + 1);
    going = going && talc_slot_length(session, 0) > 0 ? answer() : going;
  }
  talc_sampler_destroy(sampler);
  talc_session_destroy(session);
  talc_model_close(opened);
  return 0;
}
