// SPDX-License-Identifier: Apache-2.0
// Evaluates windows of a text with a compiled model.
#pragma once

#include "runtime/talc.h"

#include <string>
#include <vector>

namespace talc::perplexity {

// Functions return a line with an error, or an empty text.
class LogitsEvaluator {
public:
  LogitsEvaluator() = default;
  LogitsEvaluator(const LogitsEvaluator &) = delete;
  LogitsEvaluator &operator=(const LogitsEvaluator &) = delete;
  ~LogitsEvaluator();

  // Fails for models without logits of a vocabulary, and for encoder-decoders.
  std::string open(const std::string &path, int32_t threads);
  std::string tokenize(const std::string &text, std::vector<int32_t> &ids);
  // Evaluates a window and keeps these rows of these results until the next call.
  std::string evaluate(const std::vector<int32_t> &ids, const std::vector<int32_t> &rows,
                       const std::vector<int32_t> &results = {0});
  // Returns the log-probabilities of the tokens after these rows.
  std::string score(const std::vector<int32_t> &ids, const std::vector<int32_t> &rows, std::vector<float> &scores);
  const float *logits(size_t row) const { return values[0] + row * width(); }
  const float *result(int32_t number) const { return values[number]; }

  size_t width() const { return static_cast<size_t>(info.vocabulary_size); }
  bool continuesTexts() const { return info.kind == TALC_MODEL_DECODER; }

  talc_model_info info = {};

private:
  std::string path;
  talc_model *model = nullptr;
  talc_session *session = nullptr;
  const float *values[2] = {};  // of each result
};

}  // namespace talc::perplexity
