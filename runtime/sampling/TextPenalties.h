// SPDX-License-Identifier: Apache-2.0
// Penalties make the tokens that a text already has less likely.
//
// Sources: Keskar, McCann, Varshney, Xiong, Socher: CTRL, 2019 (repetition); OpenAI's API (presence, frequency). The
// order is that of vLLM and llama.cpp: repetition first.
#pragma once

#include "runtime/sampling/LogitsProcessors.h"
#include "runtime/sampling/SamplingScratch.h"
#include "runtime/talc.h"

namespace talc {

class TextPenalties {
public:
  explicit TextPenalties(const talc_sampling &settings)
      : repetition(settings.repetition_penalty), presence(settings.presence_penalty),
        frequency(settings.frequency_penalty) {}

  bool areOn() const { return repetition != 1 || countsNew(); }
  // Makes `scratch` large enough.
  void reserve(size_t vocabulary, SamplingScratch &scratch) const;
  // Notes the tokens of a text in `scratch`, which was reserved.
  void read(const UnfinishedText &text, SamplingScratch &scratch) const;
  // The logit of a token after the penalties of the text that was read.
  double apply(double logit, int32_t id, const SamplingScratch &scratch) const {
    if (!areOn() || !scratch.marks.contains(id))
      return logit;
    logit = logit > 0 ? logit / repetition : logit * repetition;
    return countsNew() && scratch.counts[id] > 0 ? logit - presence - frequency * scratch.counts[id] : logit;
  }

private:
  bool countsNew() const { return presence != 0 || frequency != 0; }

  const double repetition, presence, frequency;
};

}  // namespace talc
