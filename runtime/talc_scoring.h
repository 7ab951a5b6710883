/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that tells how likely given tokens are; talc.h includes it and says what holds throughout. */
#ifndef TALC_SCORING_H
#define TALC_SCORING_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Tokens whose log-probabilities are asked for, each behind a token of a sequence, or in its place where the model
   fills masks. A text's own are scored by {.count = tokens - 1, .ids = ids + 1, .log_probabilities = ...}. */
typedef struct talc_candidates {
  int32_t count;       /* 0: none */
  const int32_t *ids;  /* [count] */
  const int32_t *rows; /* [count], ascending indices into the sequence's `ids`: candidate i is that of token rows[i];
                          NULL: of token i */
  float *log_probabilities; /* [count], filled on success */
  int32_t reserved[4];
} talc_candidates;

/* talc_evaluate which leaves no results, but the log-probabilities of candidates: candidates[i] are those of
   sequences[i], which must not ask for rows. A number is that of the softmax over all logits. Models whose words lie in
   clusters (an adaptive softmax) compute the clusters that have a candidate alone, with the bits that all logits of the
   token have. Errors: those of talc_evaluate, KIND (no logits). */
TALC_API talc_status talc_score(talc_session *session, const talc_sequence *sequences,
                                const talc_candidates *candidates, int32_t count, talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_SCORING_H */
