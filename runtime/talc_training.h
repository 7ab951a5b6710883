/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that trains a model which was compiled by `talc compile --train`; talc.h includes it and says what
   holds throughout.

   A training loop (error handling left out):
     talc_trainer *trainer;
     talc_trainer_create(model, NULL, &trainer, NULL);
     for (each batch) {
       talc_trainer_accumulate(trainer, sequences, count, 0, &loss, NULL);
       talc_trainer_update(trainer, &(talc_update_settings){.learning_rate = 3e-4f}, NULL, NULL);
     }
     talc_trainer_save(trainer, "checkpoint", NULL);
     talc_trainer_destroy(trainer);

   Losses, gradients and parameters have the same bits for any number of threads. */
#ifndef TALC_TRAINING_H
#define TALC_TRAINING_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The parameters of a model in f32, their gradients, and the two moments of AdamW: 16 bytes for each parameter, and a
   copy of the weights in the layout of the generated code. */
typedef struct talc_trainer talc_trainer;

typedef struct talc_trainer_options {
  uint32_t struct_size;
  int32_t threads;     /* 1 to 1024, the calling thread included; 0: talc_default_threads() */
  int32_t step_tokens; /* tokens that are evaluated at a time, unless a sequence has more; 0: 2048. Temporaries grow
                          with them; on parameters they have no influence */
  int32_t reserved;
} talc_trainer_options;

/* Errors: ARGUMENT, KIND (not compiled with --train), DAMAGED, MEMORY, THREADS. */
TALC_API talc_status talc_trainer_create(const talc_model *model, const talc_trainer_options *options,
                                         talc_trainer **trainer, talc_error *error);
TALC_API void talc_trainer_destroy(talc_trainer *trainer);

/* A whole sequence, and what the model is to predict for each of its tokens: in causal language models the next token.
   The last token of a text has no label. */
typedef struct talc_training_sequence {
  const int32_t *ids;    /* [count] */
  const int32_t *labels; /* [count]; negative: none */
  int32_t count;         /* tokens, 1 to max_sequence */
  int32_t reserved;
} talc_training_sequence;

/* Adds the gradients of the cross-entropy of all labels, divided by `all_labels`: the number of labels of all calls
   until the next update. 0: only this call has labels. Stores the sum of the labels' losses in `loss` unless that is
   NULL. Errors: ARGUMENT, BATCH (no label), TOKEN, STATE_FULL (a sequence is too long), MEMORY. After an error the
   gradients are those before the call, unless the code is MEMORY; then talc_trainer_clear is to be called. */
TALC_API talc_status talc_trainer_accumulate(talc_trainer *trainer, const talc_training_sequence *sequences,
                                             int32_t count, int64_t all_labels, double *loss, talc_error *error);

/* Sets all gradients to zero. */
TALC_API void talc_trainer_clear(talc_trainer *trainer);

/* AdamW (arXiv 1711.05101), in the order of PyTorch. 0 means the default, TALC_NONE none. */
typedef struct talc_update_settings {
  uint32_t struct_size;
  float learning_rate; /* 0: 3e-4; TALC_NONE: 0 */
  float beta1, beta2;  /* 0: 0.9 and 0.999 */
  float epsilon;       /* 0: 1e-8 */
  float weight_decay;  /* of tensors with two dimensions or more; 0: 0.01 */
  float clip;          /* gradients are scaled down to this norm; 0: 1 */
  int32_t decays_all;  /* 1: weight decay also of vectors, that is biases and scales of norms */
} talc_update_settings;

/* Changes the parameters by the gradients, which become zero. Stores the norm of all gradients before they are clipped
   in `norm` unless that is NULL. Fails with RESULT if the norm is not finite; then no parameter was changed. Errors:
   ARGUMENT, RESULT. */
TALC_API talc_status talc_trainer_update(talc_trainer *trainer, const talc_update_settings *settings, double *norm,
                                         talc_error *error);

typedef enum talc_trainer_part {
  TALC_PARAMETER = 0,
  TALC_GRADIENT = 1,
  TALC_FIRST_MOMENT = 2,
  TALC_SECOND_MOMENT = 3
} talc_trainer_part;

/* A tensor of the checkpoint that is trained. */
typedef struct talc_trainer_tensor {
  const char *name; /* `name_size` bytes of UTF-8; lives as long as the model */
  size_t name_size;
  int32_t rank; /* 1 to 4 */
  int32_t reserved;
  int64_t shape[4]; /* further sizes are 1 */
} talc_trainer_tensor;

TALC_API int32_t talc_trainer_tensor_count(const talc_trainer *trainer);
/* Errors: ARGUMENT (no such index). */
TALC_API talc_status talc_trainer_get_tensor(const talc_trainer *trainer, int32_t index, talc_trainer_tensor *tensor,
                                             talc_error *error);
/* Reads or writes all values of a tensor, in the order of the checkpoint. Errors: ARGUMENT (no such tensor or part, or
   another number of values). */
TALC_API talc_status talc_trainer_read(const talc_trainer *trainer, int32_t index, talc_trainer_part part,
                                       float *values, size_t count, talc_error *error);
TALC_API talc_status talc_trainer_write(talc_trainer *trainer, int32_t index, talc_trainer_part part,
                                        const float *values, size_t count, talc_error *error);

/* Writes a checkpoint in Hugging Face's layout to a directory, which is made if it does not exist: model.safetensors in
   f32, config.json and the files of the tokenizer. Errors: ARGUMENT, FILE, OUTPUT. */
TALC_API talc_status talc_trainer_save(const talc_trainer *trainer, const char *directory, talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_TRAINING_H */
