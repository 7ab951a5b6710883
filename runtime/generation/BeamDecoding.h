// SPDX-License-Identifier: Apache-2.0
// Continues a text by beam search.
#pragma once

#include "runtime/generation/DecodingStrategy.h"
#include "runtime/generation/IncrementalDetokenizer.h"
#include "runtime/sampling/BeamSearch.h"

namespace talc {

class BeamDecoding final : public DecodingStrategy {
public:
  // `request` must outlive the object.
  BeamDecoding(const Model &model, const Request &request);

  int32_t width() const override { return request.search.beams; }
  size_t alive() const override { return search.beams(); }
  const int32_t *lastToken(size_t sequence) const override { return search.token(sequence); }
  size_t parent(size_t sequence) const override { return search.parent(sequence); }
  void attach(GenerationScratch &scratch) override;
  Status choose(const float *const *logits, talc_event &event) override;
  void appendTokens(size_t, std::vector<int32_t> &) const override {}  // there are several sequences
  talc_ending ending() const override { return end; }
  void finish(talc_event &event) override;

private:
  bool isSound() const;
  talc_ending chooseEnding(const BeamResult &best) const;

  const Model &model;
  const Request &request;
  TokenScores scores;
  BeamSearch search;
  IncrementalDetokenizer output;
  GenerationScratch *shared = nullptr;
  std::vector<talc_text_result> results;
  int32_t pushed = 0;  // tokens of the best text that `output` has
  talc_ending end = TALC_ENDING_NONE;
};

}  // namespace talc
