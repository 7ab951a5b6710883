// SPDX-License-Identifier: Apache-2.0
// Scores of all next tokens of a text: log-probabilities, and what Hugging Face's logits processors make of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace talc {

// ln sum e^(values[i] - highest), in one order on every machine. NaN and minus infinity count as nothing; `highest` is
// finite and none of the values is larger.
double logSumExp(const float *values, size_t count, double highest);

// The largest of the values that are numbers; minus infinity when there is none.
float highestValue(const float *values, size_t count);

// Which tokens may follow; ids are in the vocabulary, -1 stands for none.
struct TokenRules {
  size_t vocabulary = 0;
  double repetitionPenalty = 1;  // tokens of the text: positive scores are divided by it, negative ones multiplied
  int32_t noRepeatNgram = 0;     // no group of so many tokens occurs twice; 0: off
  int32_t forcedBegin = -1;      // follows a text of one token
  int32_t forcedEnd = -1;        // is the last token of a text that is cut
  size_t minNewTokens = 0;       // so many tokens follow the beginning before an end token may
  size_t minLength = 0;          // so many tokens, the beginning included, stand before an end token
  bool renormalize = false;      // the tokens that are left share all the probability
  std::vector<int32_t> endTokens;
  std::vector<int32_t> suppressed;       // never follow
  std::vector<int32_t> beginSuppressed;  // do not follow the beginning, nor a token that is forced after it
  std::vector<int32_t> forbidden;        // groups that may not occur: length, tokens, length, tokens, ...
};

// A text that is to be continued by a token.
struct UnfinishedText {
  const int32_t *ids;
  size_t length;     // tokens
  size_t beginning;  // how many of them were given
  bool last;         // the text ends with the next token
};

// One object serves any number of texts, one after another.
class TokenScores {
public:
  explicit TokenScores(const TokenRules &rules);

  // Scores [vocabulary] of the tokens that may follow `text`, from the model's logits. Impossible tokens have minus
  // infinity or NaN. The result is valid until the next call.
  const double *compute(const float *logits, const UnfinishedText &text);

private:
  void takeLogarithms(const float *logits);
  void penalizeRepetition(const UnfinishedText &text);
  void forbidNgrams(const UnfinishedText &text);
  void forbidGroups(const UnfinishedText &text);
  void forbid(const std::vector<int32_t> &ids);
  void force(int32_t id);
  void renormalize();

  const TokenRules rules;
  std::vector<double> scores;
  std::vector<uint64_t> penalizedIn;  // [vocabulary], the last call that penalized the token
  uint64_t call = 0;
};

}  // namespace talc
