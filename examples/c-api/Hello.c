/* SPDX-License-Identifier: Apache-2.0 */
/* The shortest program: a text and how it goes on.   cc -I . Hello.c -L . -ltales -Wl,-rpath,. -o hello */
#include "tales.h"
#include <stdio.h>

static int32_t print(void *user, const talc_event *event) {
  (void)user;
  return fwrite(event->text, 1, event->text_size, stdout) != event->text_size; /* 1 would end the text */
}

int main(void) {
  talc_model *model;
  talc_error error;
  talc_request request = {.text = "Once there was", .on_event = print};
  if (tales_open(NULL, &model, &error) || talc_generate(model, &request, &error))
    return fprintf(stderr, "%s\n", error.text), 1;
  talc_model_close(model);
}
