// SPDX-License-Identifier: Apache-2.0
// Embeddings, fillings of masks, classes of texts and of tokens, as text.
#include "runtime/program/Answers.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>

namespace talc::program {

constexpr size_t fillingsByDefault = 3;

static int32_t findResult(const talc_model_info &info, talc_result_kind kind) {
  for (int32_t i = 0; i < info.result_count; ++i)
    if (info.results[i].kind == kind)
      return i;
  return -1;
}

// Returns the result for an answer that is not embeddings; -1: none.
static int32_t findAnswer(const talc_model_info &info) {
  for (talc_result_kind kind : {TALC_RESULT_CLASSES, TALC_RESULT_TOKEN_CLASSES, TALC_RESULT_LOGITS})
    if (int32_t result = findResult(info, kind); result >= 0)
      return result;
  return -1;
}

AnswerPlan planAnswer(const talc_model_info &info, const Options &options, const Prompt &prompt) {
  int32_t hidden = findResult(info, TALC_RESULT_HIDDEN), answer = findAnswer(info);
  talc_pooling pooling = options.pool.value_or(info.pooling);
  AnswerPlan embedding = {
      pooling == TALC_POOLING_NONE ? AnswerKind::TokenEmbeddings : AnswerKind::Embedding, pooling, hidden, {}};
  if (options.pool || answer < 0)
    return embedding;
  AnswerPlan plan = {AnswerKind::TokenClasses, pooling, answer, {}};
  if (info.results[answer].kind == TALC_RESULT_CLASSES)
    plan.kind = AnswerKind::Classes;
  if (info.results[answer].kind != TALC_RESULT_LOGITS)
    return plan;
  plan.kind = AnswerKind::Fillings;
  for (size_t i = 0; i < prompt.ids.size(); ++i)
    if (prompt.ids[i] == info.mask_token)
      plan.masks.push_back(static_cast<int32_t>(i));
  return plan.masks.empty() && hidden >= 0 ? embedding : plan;
}

static bool answersInLines(const AnswerPlan &plan, const Prompt &prompt, const Options &options) {
  switch (plan.kind) {
  case AnswerKind::Embedding:
    return false;
  case AnswerKind::Fillings:
    return plan.masks.size() > 1;
  case AnswerKind::Classes:
    return options.top.value_or(2) > 1;
  default:
    return prompt.ids.size() > 1;
  }
}

bool answersInLines(const talc_model_info &info, const Options &options, const std::vector<Prompt> &prompts) {
  return std::any_of(prompts.begin(), prompts.end(), [&](const Prompt &prompt) {
    return answersInLines(planAnswer(info, options, prompt), prompt, options);
  });
}

talc_rows Answer::rows() const {
  if (plan.kind == AnswerKind::Fillings)
    return plan.masks.empty() ? TALC_ROWS_NONE : TALC_ROWS_LISTED;
  bool first =
      plan.kind == AnswerKind::Classes || (plan.kind == AnswerKind::Embedding && plan.pooling == TALC_POOLING_FIRST);
  return first ? TALC_ROWS_FIRST : TALC_ROWS_ALL;
}

void Answer::setListed(talc_sequence &sequence) const {
  talc_wanted &wanted = sequence.wanted[plan.result];
  if (wanted.rows != TALC_ROWS_LISTED)
    return;
  wanted.listed = plan.masks.data();
  wanted.listed_count = static_cast<int32_t>(plan.masks.size());
}

// Returns the shortest text that reads back as the same float.
static void appendNumber(std::string &text, float value) {
  char digits[32];
  auto [end, error] = std::to_chars(digits, digits + sizeof(digits), value);
  (void)error;  // 32 characters are enough for every float
  text.append(digits, end);
}

static std::string numbers(const float *values, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    if (i > 0)
      text += ' ';
    appendNumber(text, values[i]);
  }
  return text;
}

// Mean pooling counts every token, special ones too.
std::string Answer::embedding(const float *values, int32_t rows) const {
  size_t width = job.info.results[plan.result].width;
  std::vector<float> means(width);
  for (size_t column = 0; column < width; ++column) {
    double sum = 0;
    for (int32_t row = 0; row < rows; ++row)
      sum += values[row * width + column];
    means[column] = static_cast<float>(sum / rows);
  }
  return numbers(means.data(), width);
}

// Returns the text of one token inside a text; for a special one its spelling; without a tokenizer its number.
static std::string spell(const talc_model *model, int32_t id) {
  size_t size = 0;
  if (talc_is_special_token(model, id)) {
    const char *spelling = talc_token_spelling(model, id, &size);
    return {spelling, size};
  }
  std::string text;
  if (talc_detokenize(model, &id, 1, nullptr, 0, &size, nullptr) != TALC_OK)
    return std::to_string(id);
  text.resize(size);
  return talc_detokenize(model, &id, 1, text.data(), size, &size, nullptr) == TALC_OK ? text : std::to_string(id);
}

static std::string className(const talc_model_info &info, size_t index) {
  return index < static_cast<size_t>(info.label_count) ? info.labels[index] : std::to_string(index);
}

static double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

static std::vector<double> softmax(const float *logits, size_t count) {
  std::vector<double> result(count);
  double highest = *std::max_element(logits, logits + count), sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += result[i] = std::exp(logits[i] - highest);
  for (double &value : result)
    value /= sum;
  return result;
}

// A single class has a probability of its own.
static std::vector<double> classScores(talc_class_scores kind, const float *logits, size_t count) {
  if (kind == TALC_SCORES_SOFTMAX && count > 1)
    return softmax(logits, count);
  std::vector<double> result(logits, logits + count);
  if (kind != TALC_SCORES_VALUES)
    std::transform(result.begin(), result.end(), result.begin(), sigmoid);
  return result;
}

// Formats "name probability", the likeliest first, the first of equal ones first.
std::string Answer::likeliest(const float *logits, size_t count, bool areTokens, const char *separator) const {
  std::vector<double> chances = areTokens ? softmax(logits, count) : classScores(job.info.class_scores, logits, count);
  std::vector<int32_t> order(count);
  for (size_t i = 0; i < count; ++i)
    order[i] = static_cast<int32_t>(i);
  size_t shown = std::min<size_t>(count, job.options.top.value_or(areTokens ? fillingsByDefault : count));
  auto better = [&](int32_t a, int32_t b) { return chances[a] != chances[b] ? chances[a] > chances[b] : a < b; };
  std::partial_sort(order.begin(), order.begin() + shown, order.end(), better);
  std::string text;
  for (size_t i = 0; i < shown; ++i) {
    char chance[32];
    snprintf(chance, sizeof(chance), " %.4f", chances[order[i]]);
    text += (i ? separator : "") + (areTokens ? spell(job.model, order[i]) : className(job.info, order[i])) + chance;
  }
  return text;
}

// Special tokens have no text. For a single class its probability is printed.
std::string Answer::tokenClasses(const float *values, int32_t rows) const {
  size_t width = job.info.results[plan.result].width;
  std::string text;
  for (int32_t row = 0; row < rows; ++row) {
    if (talc_is_special_token(job.model, prompt.ids[row]))
      continue;
    const float *logits = values + row * width;
    size_t best = std::max_element(logits, logits + width) - logits;
    char chance[32];
    snprintf(chance, sizeof(chance), "%.4f", classScores(job.info.class_scores, logits, 1)[0]);
    text += (text.empty()   ? ""
             : job.fromFile ? "\t"
                            : "\n") +
            spell(job.model, prompt.ids[row]) + (job.fromFile ? " " : "\t") +
            (width == 1 ? chance : className(job.info, best));
  }
  return text;
}

std::string Answer::text(const float *values, int32_t rows) const {
  size_t width = job.info.results[plan.result].width;
  if (plan.kind == AnswerKind::Embedding)
    return embedding(values, rows);
  if (plan.kind == AnswerKind::Classes)
    return likeliest(values, width, false, job.fromFile ? "\t" : "\n");
  if (plan.kind == AnswerKind::TokenClasses)
    return tokenClasses(values, rows);
  std::string text;
  for (int32_t row = 0; row < rows; ++row) {
    const float *item = values + row * width;
    text += row == 0 ? "" : !job.fromFile ? "\n" : plan.kind == AnswerKind::Fillings ? "\t|\t" : "\t";
    text += plan.kind == AnswerKind::Fillings ? likeliest(item, width, true, "\t") : numbers(item, width);
  }
  return text;
}

}  // namespace talc::program
