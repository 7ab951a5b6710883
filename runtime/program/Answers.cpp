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

// The result that is answered with unless embeddings are; -1: none.
static int32_t findAnswer(const talc_model_info &info) {
  for (talc_result_kind kind : {TALC_RESULT_CLASSES, TALC_RESULT_TOKEN_CLASSES, TALC_RESULT_LOGITS})
    if (int32_t found = findResult(info, kind); found >= 0)
      return found;
  return -1;
}

Answer::Answer(const Job &job, const Prompt &prompt) : job(job), prompt(prompt) {
  const talc_model_info &info = job.info;
  pooling = job.options.pool.value_or(info.pooling);
  kind = pooling == TALC_POOLING_NONE ? Kind::TokenEmbeddings : Kind::Embedding;
  int32_t hidden = findResult(info, TALC_RESULT_HIDDEN), answer = findAnswer(info);
  usedResult = hidden >= 0 ? hidden : answer;
  if (job.options.pool || answer < 0)
    return;
  if (info.results[answer].kind == TALC_RESULT_LOGITS) {
    for (size_t i = 0; i < prompt.ids.size(); ++i)
      if (prompt.ids[i] == info.mask_token)
        masks.push_back(static_cast<int32_t>(i));
    if (masks.empty() && hidden >= 0)
      return;
  }
  usedResult = answer;
  kind = info.results[answer].kind == TALC_RESULT_CLASSES         ? Kind::Classes
         : info.results[answer].kind == TALC_RESULT_TOKEN_CLASSES ? Kind::TokenClasses
                                                                  : Kind::Fillings;
}

talc_rows Answer::rows() const {
  if (kind == Kind::Fillings)
    return masks.empty() ? TALC_ROWS_NONE : TALC_ROWS_LISTED;
  bool first = kind == Kind::Classes || (kind == Kind::Embedding && pooling == TALC_POOLING_FIRST);
  return first ? TALC_ROWS_FIRST : TALC_ROWS_ALL;
}

void Answer::setListed(talc_sequence &sequence) const {
  talc_wanted &wanted = sequence.wanted[usedResult];
  if (wanted.rows != TALC_ROWS_LISTED)
    return;
  wanted.listed = masks.data();
  wanted.listed_count = static_cast<int32_t>(masks.size());
}

// The shortest text that gives the same float when it is read.
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
  size_t width = job.info.results[usedResult].width;
  std::vector<float> means(width);
  for (size_t column = 0; column < width; ++column) {
    double sum = 0;
    for (int32_t row = 0; row < rows; ++row)
      sum += values[row * width + column];
    means[column] = static_cast<float>(sum / rows);
  }
  return numbers(means.data(), width);
}

// The text of one token, as it stands inside a text; its number without a tokenizer.
static std::string spell(const talc_model *model, int32_t id) {
  char text[512];
  size_t size = 0;
  if (talc_detokenize(model, &id, 1, text, sizeof(text), &size, nullptr) != TALC_OK)
    return std::to_string(id);
  return {text, size};
}

static std::string className(const talc_model_info &info, size_t index) {
  return index < static_cast<size_t>(info.label_count) ? info.labels[index] : std::to_string(index);
}

// Softmax; the probability of a single class is that of its logit alone.
static std::vector<double> probabilities(const float *logits, size_t count) {
  std::vector<double> result(count);
  double highest = count == 1 ? 0 : *std::max_element(logits, logits + count), sum = 0;
  for (size_t i = 0; i < count; ++i)
    sum += result[i] = std::exp(logits[i] - highest);
  for (double &value : result)
    value /= count == 1 ? 1 + value : sum;
  return result;
}

// "name probability", the likeliest first, of equal ones the first.
std::string Answer::likeliest(const float *logits, size_t count, bool areTokens, const char *separator) const {
  std::vector<double> chances = probabilities(logits, count);
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

// Special tokens stand for nothing in the text.
std::string Answer::tokenClasses(const float *values, int32_t rows) const {
  size_t width = job.info.results[usedResult].width;
  std::string text;
  for (int32_t row = 0; row < rows; ++row) {
    if (talc_is_special_token(job.model, prompt.ids[row]))
      continue;
    const float *logits = values + row * width;
    size_t best = std::max_element(logits, logits + width) - logits;
    text += (text.empty()   ? ""
             : job.fromFile ? "\t"
                            : "\n") +
            spell(job.model, prompt.ids[row]) + (job.fromFile ? " " : "\t") + className(job.info, best);
  }
  return text;
}

std::string Answer::text(const float *values, int32_t rows) const {
  size_t width = job.info.results[usedResult].width;
  if (kind == Kind::Embedding)
    return embedding(values, rows);
  if (kind == Kind::Classes)
    return likeliest(values, width, false, job.fromFile ? "\t" : "\n");
  if (kind == Kind::TokenClasses)
    return tokenClasses(values, rows);
  std::string text;
  for (int32_t row = 0; row < rows; ++row) {
    const float *item = values + row * width;
    text += row == 0 ? "" : !job.fromFile ? "\n" : kind == Kind::Fillings ? "\t|\t" : "\t";
    text += kind == Kind::Fillings ? likeliest(item, width, true, "\t") : numbers(item, width);
  }
  return text;
}

bool answersInLines(const talc_model_info &info, const Options &options) {
  bool embeds = options.pool || findAnswer(info) < 0;
  return embeds ? options.pool.value_or(info.pooling) == TALC_POOLING_NONE : true;
}

}  // namespace talc::program
