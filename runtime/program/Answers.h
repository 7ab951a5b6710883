// SPDX-License-Identifier: Apache-2.0
// The output of an encoder for a text: which result it takes, and how it is written.
#pragma once

#include "runtime/program/Job.h"

namespace talc::program {

enum class AnswerKind { Embedding, TokenEmbeddings, Fillings, Classes, TokenClasses };

// The way to make the output for a text.
struct AnswerPlan {
  AnswerKind kind;
  talc_embedding_pooling pooling;  // of an embedding
  int32_t result;                  // index of the model's result
  std::vector<int32_t> masks;      // positions of the tokens to be filled
};

AnswerPlan planAnswer(const talc_model_info &info, const Options &options, const Prompt &prompt);

// Whether the answer to some text has several lines, when each is printed alone.
bool answersInLines(const talc_model_info &info, const Options &options, const std::vector<Prompt> &prompts);

// One per text. Several items of an answer are lines, or columns when every text has one line.
class Answer {
public:
  // `prompt` must outlive the object.
  Answer(const Job &job, const Prompt &prompt)
      : job(job), prompt(prompt), plan(planAnswer(job.info, job.options, prompt)) {}

  int32_t result() const { return plan.result; }
  talc_rows rows() const;
  // Sets the list of wanted tokens, if there is one; the sequence must not move afterwards.
  void setListed(talc_sequence &sequence) const;

  // Returns the answer without a line break at its end.
  std::string text(const float *values, int32_t rows) const;
  // Returns the members of a JSON object, with a comma before each.
  std::string json(const float *values, int32_t rows) const;
  // Returns the vector of an embedding.
  std::vector<float> embed(const float *values, int32_t rows) const;

private:
  // A class or a token, and its score as text.
  struct Ranked {
    std::string name, score;
  };

  std::string embedding(const float *values, int32_t rows) const;
  // The likeliest first, the first of equal ones first; as many as are wanted.
  std::vector<Ranked> rank(const float *logits, size_t count, bool areTokens) const;
  Ranked tokenClass(const float *logits) const;
  std::string spell(int32_t id) const;
  std::string className(size_t index) const;
  std::string jsonOfRanked(const float *logits, size_t count, bool areTokens) const;
  std::string jsonOfTokens(const float *values, int32_t rows) const;
  std::string likeliest(const float *logits, size_t count, bool areTokens, const char *separator) const;
  std::string tokenClasses(const float *values, int32_t rows) const;

  const Job &job;
  const Prompt &prompt;
  const AnswerPlan plan;
};

}  // namespace talc::program
