/* SPDX-License-Identifier: Apache-2.0 */
/* Translates sentences with an encoder-decoder that is linked in as a library. Each sentence is a request; a generator
   serves them together, and translations come out in the order in which they are done.

     talc compile examples/models/es-en-marian --emit=lib -o libspanish.so      writes libspanish.so and spanish.h
     cc -I . examples/c-api/Translate.c -L . -lspanish -Wl,-rpath,. -o translate
     ./translate "Les gustan las manzanas." "Él tiene la niña cada día."

   With .search in a request, several beams look for a better translation. */
#include "spanish.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_TOGETHER = 16 };

/* A sentence and its translation. */
typedef struct Text {
  const char *sentence;
  char *translation;
} Text;

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

/* The translation comes with the last event. */
static int32_t take(void *user, const talc_event *event) {
  Text *text = user;
  if (event->kind != TALC_EVENT_END)
    return 0;
  if (event->error)
    check(event->error->status, event->error);
  text->translation = malloc(event->text_size + 1);
  if (text->translation)
    snprintf(text->translation, event->text_size + 1, "%.*s", (int)event->text_size, event->text);
  return 0;
}

static void translate(talc_session *session, Text *texts, int32_t count) {
  talc_error error;
  talc_generator *generator;
  check(talc_generator_create(session, NULL, &generator, &error), &error);
  for (int32_t i = 0; i < count; ++i) {
    talc_request request = {
        .text = texts[i].sentence, .text_form = TALC_TEXT_AT_END, .on_event = take, .user = &texts[i]};
    check(talc_generator_submit(generator, &request, NULL, &error), &error);
  }
  for (int32_t unfinished = count; unfinished > 0;)
    check(talc_generator_step(generator, &unfinished, &error), &error);
  talc_generator_destroy(generator);
}

int main(int argc, char **argv) {
  int32_t count = argc - 1;
  talc_error error;
  talc_model *model;
  talc_session *session;
  Text *texts = calloc((size_t)argc, sizeof(Text));
  if (count < 1 || !texts)
    return 2;
  for (int32_t i = 0; i < count; ++i)
    texts[i].sentence = argv[i + 1];
  check(spanish_open(NULL, &model, &error), &error);
  talc_session_options options = {.slots = count < MAX_TOGETHER ? count : MAX_TOGETHER};
  check(talc_session_create(model, &options, &session, &error), &error);
  translate(session, texts, count);
  for (int32_t i = 0; i < count; ++i) {
    printf("%s\n", texts[i].translation ? texts[i].translation : "");
    free(texts[i].translation);
  }
  free(texts);
  talc_session_destroy(session);
  talc_model_close(model);
  return 0;
}
