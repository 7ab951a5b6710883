// SPDX-License-Identifier: Apache-2.0
// Embeddings, fillings of masks, classes of texts and of tokens, as members of a JSON object.
#include "runtime/program/Answers.h"
#include "runtime/program/output/JsonText.h"

namespace talc::program {

// [{"label":"good","score":0.9}, ...]; of tokens [{"token":"a","score":0.9}, ...]
std::string Answer::jsonOfRanked(const float *logits, size_t count, bool areTokens) const {
  std::string json = "[";
  for (const Ranked &ranked : rank(logits, count, areTokens)) {
    json += json.size() > 1 ? ",{" : "{";
    json += areTokens ? "\"token\":" : "\"label\":";
    appendString(json, ranked.name);
    json += ",\"score\":" + ranked.score + "}";
  }
  return json + "]";
}

// [{"token":"a","embedding":[1,2]}, ...], or [{"token":"a","label":"PER","score":0.9}, ...] without special tokens.
std::string Answer::jsonOfTokens(const float *values, int32_t rows) const {
  size_t width = job.info.results[plan.result].width;
  std::string json = "[";
  for (int32_t row = 0; row < rows; ++row) {
    if (plan.kind == AnswerKind::TokenClasses && talc_is_special_token(job.model, prompt.ids[row]))
      continue;
    json += json.size() > 1 ? ",{\"token\":" : "{\"token\":";
    appendString(json, spell(prompt.ids[row]));
    if (plan.kind == AnswerKind::TokenClasses) {
      Ranked ranked = tokenClass(values + row * width);
      json += ",\"label\":";
      appendString(json, ranked.name);
      json += ",\"score\":" + ranked.score + "}";
    } else {
      std::vector<float> vector = embed(values + row * width, 1);
      json += ",\"embedding\":";
      appendNumbers(json, vector.data(), vector.size());
      json += "}";
    }
  }
  return json + "]";
}

// A model with one class has a score, too.
std::string Answer::json(const float *values, int32_t rows) const {
  size_t width = job.info.results[plan.result].width;
  if (plan.kind == AnswerKind::Embedding) {
    std::vector<float> vector = embed(values, rows);
    std::string json = ",\"embedding\":";
    appendNumbers(json, vector.data(), vector.size());
    return json;
  }
  if (plan.kind == AnswerKind::Classes) {
    std::string score = width == 1 ? ",\"score\":" + rank(values, width, false).front().score : "";
    return score + ",\"classes\":" + jsonOfRanked(values, width, false);
  }
  if (plan.kind != AnswerKind::Fillings)
    return ",\"tokens\":" + jsonOfTokens(values, rows);
  std::string json = ",\"masks\":[";
  for (int32_t row = 0; row < rows; ++row)
    json += (row > 0 ? "," : "") + jsonOfRanked(values + row * width, width, true);
  return json + "]";
}

}  // namespace talc::program
