/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that makes one vector of a text's hidden states; talc.h includes it and says what holds
   throughout.

   What sentence-transformers stores beside a model (modules.json) decides: poolings, layers after them, prompts that
   stand before texts, and how long texts are. Such an embedding is made in four steps:

     talc_tokenize_within(model, text, size, NULL, 0, info.max_tokens, ...)     the prompt and the text in one
     talc_evaluate(...)                                                         wanting the hidden states of all tokens
     talc_result(...)
     talc_embed(model, NULL, hidden, count, ...)
 */
#ifndef TALC_EMBEDDING_H
#define TALC_EMBEDDING_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct talc_embedding_info {
  uint32_t struct_size;
  int32_t width;                   /* floats of an embedding; 0: the model makes none */
  int32_t max_tokens;              /* longer texts should be cut to so many; 0: they are not */
  int32_t excludes_prompt;         /* 1: the prompt's tokens are not pooled */
  int32_t prompt_count;            /* 0: the model has no prompts */
  int32_t default_prompt;          /* index of the prompt before a text if the user names none; -1: none */
  const char *const *prompt_names; /* [prompt_count], UTF-8; lives as long as the model */
  const char *const *prompts;      /* [prompt_count], their texts */
} talc_embedding_info;

/* Errors: ARGUMENT. */
TALC_API talc_status talc_embedding_get_info(const talc_model *model, talc_embedding_info *info, talc_error *error);

typedef enum talc_embedding_pooling {
  TALC_EMBEDDING_OWN = 0, /* the model's pooling, and its layers */
  TALC_EMBEDDING_FIRST = 1,
  TALC_EMBEDDING_MEAN = 2,
  TALC_EMBEDDING_MAX = 3,              /* of every feature */
  TALC_EMBEDDING_MEAN_SQRT_LENGTH = 4, /* the sum, divided by the square root of the number of tokens */
  TALC_EMBEDDING_WEIGHTED_MEAN = 5,    /* token i counts i + 1 times */
  TALC_EMBEDDING_LAST = 6
} talc_embedding_pooling;

typedef struct talc_embedding_options {
  uint32_t struct_size;
  talc_embedding_pooling pooling; /* without the model's layers, if it is not the model's own */
  int32_t normalize;              /* 1: divide the embedding by its length in the end */
  int32_t prompt_tokens;          /* tokens of the prompt, which are not pooled where the model excludes them */
} talc_embedding_options;

/* Makes the embedding of hidden states [count][width], those of all tokens of one text. Stores its width in `size` and,
   when `capacity` suffices, its floats. `embedding` may be NULL with capacity 0 to ask for the width. Errors: ARGUMENT,
   CAPACITY (not when `embedding` is NULL), KIND (the model returns no hidden states, or does not pool them). */
TALC_API talc_status talc_embed(const talc_model *model, const talc_embedding_options *options, const float *hidden,
                                int32_t count, float *embedding, int32_t capacity, int32_t *size, talc_error *error);

/* talc_tokenize_pair of texts that are cut to `max_tokens` ids, those that the tokenizer adds included; 0: they are not
   cut. The longer text of a pair is cut first. `second` may be NULL. Stores in `dropped` how many ids were cut, which
   may be NULL. Errors: those of talc_tokenize_pair. */
TALC_API talc_status talc_tokenize_within(const talc_model *model, const char *first, size_t first_size,
                                          const char *second, size_t second_size, int32_t max_tokens, int32_t *ids,
                                          int32_t *types, int32_t capacity, int32_t *count, int32_t *dropped,
                                          talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_EMBEDDING_H */
