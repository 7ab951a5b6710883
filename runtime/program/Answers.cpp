// SPDX-License-Identifier: Apache-2.0
// Embeddings, fillings of masks, classes of texts and of tokens, as text.
#include "runtime/program/Answers.h"

#include "runtime/program/ClassScores.h"
#include "runtime/program/output/JsonText.h"

#include <algorithm>

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
  // A pooling of the model's that talc.h does not name needs all rows, as a maximum does.
  auto pooling = options.pool.value_or(static_cast<talc_embedding_pooling>(info.pooling));
  AnswerPlan embedding = {
      pooling == TALC_EMBEDDING_OWN ? AnswerKind::TokenEmbeddings : AnswerKind::Embedding, pooling, hidden, {}};
  if (options.asksEmbeddings() || answer < 0)
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
  if (plan.kind == AnswerKind::Classes)
    return TALC_ROWS_CLASSES;
  if (plan.kind == AnswerKind::Embedding && plan.pooling == TALC_EMBEDDING_LAST)
    return TALC_ROWS_LAST;
  bool isFirst = plan.pooling == TALC_EMBEDDING_FIRST && !job.embeddings.excludes_prompt;
  return plan.kind == AnswerKind::Embedding && isFirst ? TALC_ROWS_FIRST : TALC_ROWS_ALL;
}

void Answer::setListed(talc_sequence &sequence) const {
  talc_wanted &wanted = sequence.wanted[plan.result];
  if (wanted.rows != TALC_ROWS_LISTED)
    return;
  wanted.listed = plan.masks.data();
  wanted.listed_count = static_cast<int32_t>(plan.masks.size());
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

// The options' pooling alone, or what the model says.
std::vector<float> Answer::embed(const float *values, int32_t rows) const {
  talc_embedding_options options = {};
  options.struct_size = sizeof(options);
  options.pooling =
      plan.kind == AnswerKind::TokenEmbeddings ? TALC_EMBEDDING_FIRST : job.options.pool.value_or(TALC_EMBEDDING_OWN);
  options.normalize = job.options.normalizes;
  options.prompt_tokens = job.rules.promptTokens();
  int32_t room = std::max(job.info.results[plan.result].width, job.embeddings.width), size = 0;
  std::vector<float> result(room);
  talc_embed(job.model, &options, values, rows, result.data(), room, &size, nullptr);
  result.resize(size);
  return result;
}

std::string Answer::embedding(const float *values, int32_t rows) const {
  std::vector<float> vector = embed(values, rows);
  return numbers(vector.data(), vector.size());
}

// Returns the text of one token inside a text; for a special one its spelling; without a tokenizer its number.
std::string Answer::spell(int32_t id) const {
  const talc_model *model = job.model;
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

std::string Answer::className(size_t index) const {
  return index < static_cast<size_t>(job.info.label_count) ? job.info.labels[index] : std::to_string(index);
}

std::vector<Answer::Ranked> Answer::rank(const float *logits, size_t count, bool areTokens) const {
  std::vector<double> chances = areTokens ? softmax(logits, count) : classScores(job.info.class_scores, logits, count);
  std::vector<int32_t> order(count);
  for (size_t i = 0; i < count; ++i)
    order[i] = static_cast<int32_t>(i);
  size_t shown = std::min<size_t>(count, job.options.top.value_or(areTokens ? fillingsByDefault : count));
  auto better = [&](int32_t a, int32_t b) { return chances[a] != chances[b] ? chances[a] > chances[b] : a < b; };
  std::partial_sort(order.begin(), order.begin() + shown, order.end(), better);
  std::vector<Ranked> result;
  for (size_t i = 0; i < shown; ++i) {
    std::string name = areTokens ? spell(order[i]) : className(order[i]);
    std::string score;
    appendScore(score, chances[order[i]], areTokens || job.info.class_scores != TALC_SCORES_VALUES);
    result.push_back({std::move(name), std::move(score)});
  }
  return result;
}

std::string Answer::likeliest(const float *logits, size_t count, bool areTokens, const char *separator) const {
  std::string text;
  for (const Ranked &ranked : rank(logits, count, areTokens))
    text += (text.empty() ? "" : separator) + ranked.name + " " + ranked.score;
  return text;
}

Answer::Ranked Answer::tokenClass(const float *logits) const {
  size_t width = job.info.results[plan.result].width;
  size_t best = std::max_element(logits, logits + width) - logits;
  std::string score;
  appendScore(score, classScores(job.info.class_scores, logits, width)[best],
              job.info.class_scores != TALC_SCORES_VALUES);
  return {className(best), std::move(score)};
}

// Special tokens have no text. For a single class its probability is printed.
std::string Answer::tokenClasses(const float *values, int32_t rows) const {
  size_t width = job.info.results[plan.result].width;
  std::string text;
  for (int32_t row = 0; row < rows; ++row) {
    if (talc_is_special_token(job.model, prompt.ids[row]))
      continue;
    Ranked ranked = tokenClass(values + row * width);
    text += (text.empty()   ? ""
             : job.fromFile ? "\t"
                            : "\n") +
            spell(prompt.ids[row]) + (job.fromFile ? " " : "\t") + (width == 1 ? ranked.score : ranked.name);
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
    text += plan.kind == AnswerKind::Fillings ? likeliest(item, width, true, "\t") : embedding(item, 1);
  }
  return text;
}

}  // namespace talc::program
