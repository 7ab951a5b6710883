/* SPDX-License-Identifier: Apache-2.0 */
/* Translates sentences with an encoder-decoder that is linked in as a library. All sentences are one batch: each owns a
   slot, where talc_encode leaves it as a source and talc_evaluate appends its translation.

     talc compile examples/models/es-en-marian --emit=lib -o libspanish.so      writes libspanish.so and spanish.h
     cc -I . examples/c-api/Translate.c -L . -lspanish -Wl,-rpath,. -o translate
     ./translate "Les gustan las manzanas." "Él tiene la niña cada día."

   The likeliest token is taken every time; talc_beam_search_create is for more than that. */
#include "spanish.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SENTENCES = 64, MAX_TOKENS = 128 };

/* A sentence and its translation as far as it goes. */
typedef struct Text {
  int32_t source_count, count, ended;
  int32_t source[MAX_TOKENS], ids[MAX_TOKENS];
  talc_sampler *sampler;
} Text;

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

static void encode(const talc_model *model, talc_session *session, Text *texts, int32_t count, char **sentences) {
  talc_error error;
  talc_sequence sources[MAX_SENTENCES] = {0};
  for (int32_t i = 0; i < count; ++i) {
    Text *text = &texts[i];
    check(
        talc_tokenize(model, sentences[i], strlen(sentences[i]), text->source, MAX_TOKENS, &text->source_count, &error),
        &error);
    sources[i] = (talc_sequence){.slot = i, .count = text->source_count, .ids = text->source};
  }
  check(talc_encode(session, sources, count, &error), &error);
}

/* Translations are greedy, under the rules of the model's authors. */
static void begin(const talc_model *model, int32_t start, Text *text) {
  talc_error error;
  talc_sampling greedy = {.top_p = 1, .repetition_penalty = 1};
  text->ids[text->count++] = start;
  check(talc_sampler_create(model, &greedy, NULL, MAX_TOKENS, &text->sampler, &error), &error);
  check(talc_sampler_accept(text->sampler, text->ids, text->count, &error), &error);
}

/* Appends one token to every translation that has not ended. Returns how many there were. */
static int32_t step(const talc_model *model, talc_session *session, Text *texts, int32_t count) {
  talc_error error;
  talc_sequence batch[MAX_SENTENCES];
  int32_t running = 0;
  for (int32_t i = 0; i < count; ++i)
    if (!texts[i].ended)
      batch[running++] = (talc_sequence){
          .slot = i, .count = 1, .ids = &texts[i].ids[texts[i].count - 1], .wanted = {{.rows = TALC_ROWS_LAST}}};
  if (running > 0)
    check(talc_evaluate(session, batch, running, &error), &error);
  for (int32_t i = 0; i < running; ++i) {
    Text *text = &texts[batch[i].slot];
    check(talc_sample(text->sampler, talc_logits(session, i, NULL), &text->ids[text->count], &error), &error);
    text->ended = talc_is_end_token(model, text->ids[text->count++]) || text->count == MAX_TOKENS;
  }
  return running;
}

static void print(const talc_model *model, const Text *text) {
  talc_error error;
  char line[16 * MAX_TOKENS];
  size_t size;
  check(talc_detokenize(model, text->ids, text->count, line, sizeof(line), &size, &error), &error);
  printf("%.*s\n", (int)size, line);
}

int main(int argc, char **argv) {
  static Text texts[MAX_SENTENCES];
  int32_t count = argc - 1 < MAX_SENTENCES ? argc - 1 : MAX_SENTENCES;
  talc_error error;
  talc_model *model;
  talc_model_info info;
  talc_session *session;
  if (count < 1)
    return 2;
  check(spanish_open(NULL, &model, &error), &error);
  check(talc_model_get_info(model, &info, &error), &error);
  talc_session_options options = {.slots = count};
  check(talc_session_create(model, &options, &session, &error), &error);

  encode(model, session, texts, count, argv + 1);
  for (int32_t i = 0; i < count; ++i)
    begin(model, info.search.start_token, &texts[i]);
  while (step(model, session, texts, count) > 0)
    ;
  for (int32_t i = 0; i < count; ++i) {
    print(model, &texts[i]);
    talc_sampler_destroy(texts[i].sampler);
  }
  talc_session_destroy(session);
  talc_model_close(model);
  return 0;
}
