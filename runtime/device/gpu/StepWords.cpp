// SPDX-License-Identifier: Apache-2.0
// Writes the arrays of a step one after the other; each begins at the word that StepTables has for it.
#include "runtime/device/gpu/StepMemory.h"

#include <cstring>

namespace talc {

using namespace artifact;

template <typename T> constexpr uint64_t wordCount() {
  static_assert(sizeof(T) % sizeof(int32_t) == 0);
  return sizeof(T) / sizeof(int32_t);
}

// Tokens, their spans and ids; each span has a token of its own at least, and every result may be wanted of it.
constexpr uint64_t wordsPerToken = wordCount<StepToken>() + wordCount<Span>() + 1;

uint64_t maxStepWords(uint64_t tokens, uint64_t results) {
  uint64_t words = 0;
  bool overflow = __builtin_mul_overflow(tokens, wordsPerToken + results, &words) ||
                  __builtin_add_overflow(words, wordCount<StepTables>(), &words);
  return overflow ? UINT64_MAX : words;
}

template <typename T> static int32_t append(std::vector<int32_t> &words, const T *values, uint64_t count) {
  auto offset = static_cast<int32_t>(words.size());
  words.resize(words.size() + count * wordCount<T>());
  if (count > 0)
    memcpy(&words[static_cast<size_t>(offset)], values, count * sizeof(T));
  return offset;
}

// Appends the history, and writes its offsets to the spans, which are words from `spans` on.
static int32_t appendHistory(std::vector<int32_t> &words, const Step &step, int32_t spans) {
  auto begin = static_cast<int32_t>(words.size());
  for (int64_t i = 0; i < step.spanCount; ++i) {
    Span span = step.spans[i];
    if (span.history < 0)
      continue;
    int32_t offset = append(words, step.history + span.history, static_cast<uint64_t>(span.firstPosition));
    span.history = offset - begin;
    memcpy(&words[static_cast<size_t>(spans) + static_cast<size_t>(i) * wordCount<Span>()], &span, sizeof(span));
  }
  return begin;
}

void writeStepWords(const Step &step, std::vector<int32_t> &words) {
  const auto tokens = static_cast<uint64_t>(step.tokenCount), spans = static_cast<uint64_t>(step.spanCount);
  StepTables tables = {};
  words.assign(wordCount<StepTables>(), 0);
  tables.tokenCount = static_cast<int32_t>(tokens);
  tables.spanCount = static_cast<int32_t>(spans);
  tables.tokenIds = append(words, step.inputs.tokenIds, tokens);
  tables.tokens = append(words, step.tokens, tokens);
  tables.spans = append(words, step.spans, spans);
  tables.history = appendHistory(words, step, tables.spans);
  for (int64_t i = 0; i < maxOutputs; ++i) {
    tables.wantedCount[i] = static_cast<int32_t>(step.wanted[i].count);
    tables.wanted[i] = append(words, step.wanted[i].tokens, static_cast<uint64_t>(step.wanted[i].count));
  }
  memcpy(words.data(), &tables, sizeof(tables));
}

}  // namespace talc
