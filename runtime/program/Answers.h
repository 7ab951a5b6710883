// SPDX-License-Identifier: Apache-2.0
// What an encoder says about a text: which result it takes, and how it is written.
#pragma once

#include "runtime/program/Job.h"

namespace talc::program {

// One per text. Several items of an answer are lines, or columns when every text has one line.
class Answer {
public:
  // `prompt` must outlive the object.
  Answer(const Job &job, const Prompt &prompt);

  int32_t result() const { return usedResult; }
  talc_rows rows() const;
  // After the sequence is where it stays: the list of rows, if there is one.
  void setListed(talc_sequence &sequence) const;

  // Without line break at its end.
  std::string text(const float *values, int32_t rows) const;

private:
  enum class Kind { Embedding, TokenEmbeddings, Fillings, Classes, TokenClasses };

  std::string embedding(const float *values, int32_t rows) const;
  std::string likeliest(const float *logits, size_t count, bool areTokens, const char *separator) const;
  std::string tokenClasses(const float *values, int32_t rows) const;

  const Job &job;
  const Prompt &prompt;
  Kind kind;
  talc_pooling pooling;
  int32_t usedResult = 0;
  std::vector<int32_t> masks;  // places of the tokens to be guessed
};

// Whether an answer has several lines when the text stands alone.
bool answersInLines(const talc_model_info &info, const Options &options);

}  // namespace talc::program
