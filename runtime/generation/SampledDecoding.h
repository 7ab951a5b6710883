// SPDX-License-Identifier: Apache-2.0
// Continues a text by one token after another, greedy or sampled.
#pragma once

#include "runtime/generation/DecodingStrategy.h"
#include "runtime/generation/IncrementalDetokenizer.h"
#include "runtime/sampling/Sampler.h"

namespace talc {

class SampledDecoding final : public DecodingStrategy {
public:
  // `request` must outlive the object.
  static Status create(const Model &model, const Request &request, std::unique_ptr<DecodingStrategy> &text);

  int32_t width() const override { return 1; }
  size_t alive() const override { return end == TALC_ENDING_NONE; }
  const int32_t *lastToken(size_t) const override { return &sampler->tokens().back(); }
  size_t parent(size_t) const override { return 0; }
  void attach(GenerationScratch &scratch) override;
  Status choose(const float *const *logits, talc_event &event) override;
  void appendTokens(size_t count, std::vector<int32_t> &ids) const override;
  talc_ending ending() const override { return end; }
  void finish(talc_event &event) override;

private:
  SampledDecoding(const Model &model, const Request &request)
      : model(model), request(request), allIds{{0, static_cast<int32_t>(model.info().vocabularySize)}},
        output(model, request) {}
  size_t newTokens() const { return sampler->tokens().size() - request.beginning.size(); }
  talc_ending endingAfter(int32_t id, bool stopped) const;
  void describeProbabilities(const float *logits, talc_event &event);
  void showText(talc_event &event);

  const Model &model;
  const Request &request;
  const std::vector<IdRange> allIds;
  std::unique_ptr<Sampler> sampler;
  IncrementalDetokenizer output;
  std::vector<talc_token_probability> top;  // of the last choice
  GenerationScratch *shared = nullptr;
  size_t pushed = 0;  // new tokens whose text `output` has
  talc_ending end = TALC_ENDING_NONE;
};

}  // namespace talc
