/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the lines of a folder's files that mean what a question means, by their embeddings.

     talc compile examples/models/tales-bert --emit=object -o bert.o      writes bert.o and bert.h
     cc -static -I . examples/c-api/Search.c bert.o -ltalc -lstdc++ -lm -o search
     ./search examples/texts/notes "snow covered the railway"

   The program is one file that needs no other.

   A line's embedding is the mean of its tokens' hidden states, less the mean of all lines, which says what they have in
   common; likeness is the cosine of two embeddings. */
#include "bert.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINES = 4096, MAX_TEXT = 512, MAX_TOKENS = 128, SHOWN = 3 };

typedef struct Line {
  char file[256], text[MAX_TEXT];
  float *embedding;
  double likeness;
} Line;

static Line lines[MAX_LINES]; /* the question comes last */
static int count;

static void check(talc_status status, const talc_error *error) {
  if (status == TALC_OK)
    return;
  fprintf(stderr, "%s\n", error->text);
  exit(1);
}

static void readFile(const char *folder, const char *name) {
  char path[4096];
  snprintf(path, sizeof(path), "%s/%s", folder, name);
  FILE *file = fopen(path, "r");
  while (file && count < MAX_LINES - 1 && fgets(lines[count].text, MAX_TEXT, file)) {
    lines[count].text[strcspn(lines[count].text, "\n")] = 0;
    snprintf(lines[count].file, sizeof(lines[count].file), "%s", name);
    count += lines[count].text[0] != 0;
  }
  if (file)
    fclose(file);
}

static void readFolder(const char *path) {
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    if (entry->d_name[0] != '.')
      readFile(path, entry->d_name);
  if (folder)
    closedir(folder);
}

/* The mean of the hidden states of a text's tokens. */
static void embed(const talc_model *model, talc_session *session, int hidden, int width, Line *line) {
  talc_error error;
  int32_t ids[MAX_TOKENS], tokens, rows;
  check(talc_tokenize(model, line->text, strlen(line->text), ids, MAX_TOKENS, &tokens, &error), &error);
  talc_sequence text = {.count = tokens, .ids = ids};
  text.wanted[hidden].rows = TALC_ROWS_ALL;
  check(talc_evaluate(session, &text, 1, &error), &error);
  const float *states = talc_result(session, hidden, 0, &rows);
  line->embedding = calloc((size_t)width, sizeof(float));
  for (int row = 0; row < rows; ++row)
    for (int i = 0; i < width; ++i)
      line->embedding[i] += states[row * width + i] / (float)rows;
}

static void subtractMean(int width) {
  for (int i = 0; i < width; ++i) {
    double sum = 0;
    for (int line = 0; line < count; ++line)
      sum += lines[line].embedding[i];
    for (int line = 0; line <= count; ++line)
      lines[line].embedding[i] -= (float)(sum / count);
  }
}

static double product(const float *a, const float *b, int width) {
  double sum = 0;
  for (int i = 0; i < width; ++i)
    sum += (double)a[i] * b[i];
  return sum;
}

static double cosine(const float *a, const float *b, int width) {
  return product(a, b, width) / sqrt(product(a, a, width) * product(b, b, width) + 1e-30);
}

static int byLikeness(const void *a, const void *b) {
  double x = ((const Line *)a)->likeness, y = ((const Line *)b)->likeness;
  return (x < y) - (x > y);
}

int main(int argc, char **argv) {
  talc_error error;
  talc_model *model;
  talc_model_info info = {0};
  talc_session *session;
  if (argc != 3) {
    fprintf(stderr, "usage: search FOLDER QUESTION\n");
    return 2;
  }
  readFolder(argv[1]);
  if (count == 0) {
    fprintf(stderr, "%s: holds no text\n", argv[1]);
    return 1;
  }
  check(bert_open(NULL, &model, &error), &error);
  check(talc_model_get_info(model, &info, &error), &error);
  check(talc_session_create(model, NULL, &session, &error), &error);
  int hidden = info.results[0].kind == TALC_RESULT_HIDDEN ? 0 : 1, width = info.results[hidden].width;

  snprintf(lines[count].text, MAX_TEXT, "%s", argv[2]);
  for (int line = 0; line <= count; ++line)
    embed(model, session, hidden, width, &lines[line]);
  subtractMean(width);
  for (int line = 0; line < count; ++line)
    lines[line].likeness = cosine(lines[line].embedding, lines[count].embedding, width);
  qsort(lines, (size_t)count, sizeof(Line), byLikeness);
  for (int line = 0; line < count && line < SHOWN; ++line)
    printf("%.2f  %s: %s\n", lines[line].likeness, lines[line].file, lines[line].text);
  for (int line = 0; line < count; ++line)
    free(lines[line].embedding);
  talc_session_destroy(session);
  talc_model_close(model);
  return 0;
}
