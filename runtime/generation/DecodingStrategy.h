// SPDX-License-Identifier: Apache-2.0
// The seam between the scheduler and ways of choosing tokens: continues a text after its beginning was evaluated.
#pragma once

#include "runtime/Status.h"
#include "runtime/sampling/SamplingScratch.h"
#include "runtime/tokenizer/Decoders.h"

#include <vector>

namespace talc {

// Memory that all texts of a scheduler share.
struct GenerationScratch {
  SamplingScratch &sampling;  // the session's
  DecodeScratch text = {};
};

// A strategy has at most `width` sequences. Those of which the next step evaluates a token are alive; at first there is
// one, the beginning. Sequences are numbered from 0 in each step.
class DecodingStrategy {
public:
  virtual ~DecodingStrategy() = default;

  virtual int32_t width() const = 0;
  virtual size_t alive() const = 0;
  // The last token of a sequence, and the sequence of the previous step that it continues.
  virtual const int32_t *lastToken(size_t sequence) const = 0;
  virtual size_t parent(size_t sequence) const = 0;

  // Makes `scratch` large enough, and uses it from now on; to be called before the first choice.
  virtual void attach(GenerationScratch &scratch) = 0;
  // Chooses the next tokens from the logits of each sequence that is alive, and fills in the event. Afterwards nothing
  // is alive, or a token of each sequence is to be evaluated. When it fails or throws, it can be called again with the
  // same logits. Only texts take memory.
  virtual Status choose(const float *const *logits, talc_event &event) = 0;

  // Appends the first `count` new tokens of the only sequence.
  virtual void appendTokens(size_t count, std::vector<int32_t> &ids) const = 0;

  // Why the text has ended; TALC_ENDING_NONE while it continues.
  virtual talc_ending ending() const = 0;
  // Fills in the result, which stays valid until the object is destroyed. May be called for texts that were given up,
  // and again when it throws.
  virtual void finish(talc_event &event) = 0;
};

}  // namespace talc
