/* SPDX-License-Identifier: Apache-2.0 */
/* The part of talc.h that chooses tokens; talc.h includes it and says what holds throughout. */
#ifndef TALC_SAMPLING_H
#define TALC_SAMPLING_H

#include "talc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Settings, rules, a random generator and a text as far as it goes: one per sequence. */
typedef struct talc_sampler talc_sampler;

/* For one row of the session's logits after another; samplers share memory of the session, which must outlive them, and
   are used by the session's thread. `sampling` and `rules` NULL: the model's defaults. Of `rules` everything counts but
   beams, length_penalty, early_stopping, renormalize and start_token; a copy is kept. `length`: tokens that the text
   has in the end, the last of them rules->forced_end; 0: as many as the caller likes. The generator is SplitMix64
   (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014) started with `seed`; each drawn token
   takes one number, of which the upper 53 bits are the uniform variate. Errors: ARGUMENT. */
TALC_API talc_status talc_sampler_create(talc_session *session, const talc_sampling *sampling, const talc_search *rules,
                                         int32_t length, talc_sampler **sampler, talc_error *error);
TALC_API void talc_sampler_destroy(talc_sampler *sampler);

/* Adds tokens to the text, which the repetition penalty and the rules look at: its beginning, all that comes before the
   first talc_sample, and later what was not sampled. talc_sample adds what it returns. Errors: TOKEN (no such id). */
TALC_API talc_status talc_sampler_accept(talc_sampler *sampler, const int32_t *ids, int32_t count, talc_error *error);

/* Biases take the place of earlier ones; several of a token add up. Errors: TOKEN (no such id), ARGUMENT (NaN or
   infinity). */
TALC_API talc_status talc_sampler_bias(talc_sampler *sampler, const talc_logit_bias *biases, int32_t count,
                                       talc_error *error);

/* From now on only tokens are chosen whose bit is set: bit id % 32 of bits[id / 32]. `words` is vocabulary_size / 32,
   rounded up. The bits stay the caller's, who may change them between two calls of talc_sample. NULL: all tokens may be
   chosen again. A token that the rules force is chosen all the same. Errors: ARGUMENT. */
TALC_API talc_status talc_sampler_allow(talc_sampler *sampler, const uint32_t *bits, int32_t words, talc_error *error);

/* Chooses a token from logits, [vocabulary_size]; where the rules force one, the logits do not matter. NaN counts as
   minus infinity; suppressed tokens, and ids that a tokenizer is present for and does not have (padding of the
   vocabulary), are never chosen. Allocates nothing, within the length of a slot. Errors: LOGITS, ARGUMENT. */
TALC_API talc_status talc_sample(talc_sampler *sampler, const float *logits, int32_t *id, talc_error *error);

#ifdef __cplusplus
}
#endif

#endif /* TALC_SAMPLING_H */
