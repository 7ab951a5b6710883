// SPDX-License-Identifier: Apache-2.0
// Checks the ModelInfo section: every value in a range that makes later arithmetic safe.
#include "runtime/artifact/Model.h"

#include <cmath>
#include <cstring>

namespace talc {

constexpr uint32_t maxVocabulary = 1u << 28, maxTokens = 1u << 30;
constexpr uint64_t maxBytesPerToken = uint64_t(1) << 30;
constexpr uint64_t maxBytes = uint64_t(1) << 46;  // beyond the address space of a process

static const char *findImpossibleSize(const artifact::ModelInfo &info) {
  if (info.vocabularySize == 0 || info.vocabularySize > maxVocabulary)
    return "vocabulary size";
  if (info.maxSequence == 0 || info.maxSequence > maxTokens)
    return "maximum sequence";
  if (info.weightBytes > maxBytes)
    return "weight bytes";
  if (info.stateBytesPerSlot > maxBytes)
    return "state bytes per slot";
  if (info.stateTokenGroup == 0 || info.stateTokenGroup > maxTokens || info.stateBytesPerToken > maxBytesPerToken)
    return "state bytes per token";
  if (info.arenaBytesPerToken > maxBytes || info.arenaBytesFixed > maxBytes || info.arenaBytesPerThread > maxBytes)
    return "arena bytes";
  return nullptr;
}

static const char *findImpossibleSampling(const artifact::ModelInfo &info) {
  if (info.topK < 0)
    return "top-k";
  if (!std::isfinite(info.temperature) || info.temperature < 0)
    return "temperature";
  if (!(info.topP > 0 && info.topP <= 1))
    return "top-p";
  if (!(info.minP >= 0 && info.minP <= 1))
    return "min-p";
  if (!std::isfinite(info.repetitionPenalty) || info.repetitionPenalty <= 0)
    return "repetition penalty";
  return nullptr;
}

const char *findImpossibleFact(const artifact::ModelInfo &info) {
  if (const char *fact = findImpossibleSize(info))
    return fact;
  auto outside = [&](int32_t id) { return id < 0 || static_cast<uint32_t>(id) >= info.vocabularySize; };
  if (info.beginToken != -1 && outside(info.beginToken))
    return "begin token";
  if (info.endTokenCount < 0 || info.endTokenCount > artifact::maxEndTokens)
    return "number of end tokens";
  for (int32_t i = 0; i < info.endTokenCount; ++i)
    if (outside(info.endTokens[i]))
      return "end token";
  if (!memchr(info.name, 0, sizeof(info.name)))
    return "name";
  return findImpossibleSampling(info);
}

}  // namespace talc
