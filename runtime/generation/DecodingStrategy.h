// SPDX-License-Identifier: Apache-2.0
// How a text goes on once its beginning is evaluated: the seam between the scheduler and ways of choosing tokens.
#pragma once

#include "runtime/Status.h"
#include "runtime/sampling/SamplingScratch.h"
#include "runtime/tokenizer/DecodeScratch.h"

namespace talc {

// Memory that all texts of a scheduler share.
struct GenerationScratch {
  SamplingScratch &sampling;  // the session's
  DecodeScratch text = {};
};

// A continuation has `width` sequences at most, of which some are alive: those that the next step evaluates a token of.
// At first there is one, the beginning. Sequences are numbered from 0 in each step.
class DecodingStrategy {
public:
  virtual ~DecodingStrategy() = default;

  virtual int32_t width() const = 0;
  virtual size_t alive() const = 0;
  // The token that a sequence was continued with last, and which sequence of the step before it continues.
  virtual const int32_t *lastToken(size_t sequence) const = 0;
  virtual size_t parent(size_t sequence) const = 0;

  // Makes `scratch` large enough, to use it from now on; comes before the first choice.
  virtual void attach(GenerationScratch &scratch) = 0;
  // Chooses the next tokens from the logits behind each sequence that is alive, and fills in what is to be told about
  // it. Afterwards nothing is alive, or a token of each is to be evaluated. Allocates nothing.
  virtual Status choose(const float *const *logits, talc_event &event) = 0;

  // Why the text has ended; none while it goes on.
  virtual talc_ending ending() const = 0;
  // Fills in the result, which stays where it is until the object is destroyed. Also of texts that were given up.
  virtual void finish(talc_event &event) = 0;
};

}  // namespace talc
