// SPDX-License-Identifier: Apache-2.0
// Checks the ModelInfo section: every value in a range that makes later arithmetic safe.
#include "runtime/artifact/Model.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace talc {

constexpr uint32_t maxVocabulary = 1u << 28, maxTokens = 1u << 30;
constexpr uint64_t maxBytesPerToken = uint64_t(1) << 30;
constexpr uint64_t maxBytes = uint64_t(1) << 46;  // beyond the address space of a process

static const char *findImpossibleInterface(const artifact::ModelInfo &info) {
  using artifact::ModelKind, artifact::OutputKind;
  auto kind = static_cast<ModelKind>(info.kind);
  if (kind != ModelKind::Decoder && kind != ModelKind::Encoder && kind != ModelKind::EncoderDecoder)
    return "kind of model";
  for (const artifact::OutputInfo &output : info.outputs) {
    bool none = output.kind == static_cast<uint32_t>(OutputKind::None);
    if (output.kind > static_cast<uint32_t>(OutputKind::TokenClasses) || output.width > maxVocabulary ||
        none != (output.width == 0) || (none && &output == info.outputs))
      return "result";
    if (output.kind == static_cast<uint32_t>(OutputKind::Logits) && output.width != info.vocabularySize)
      return "number of logits";
  }
  if (kind != ModelKind::Encoder && info.outputs[0].kind != static_cast<uint32_t>(OutputKind::Logits))
    return "result of a decoder";
  if (info.sourceVocabularySize > maxVocabulary ||
      (info.sourceVocabularySize == 0) != (kind != ModelKind::EncoderDecoder))
    return "vocabulary size of sources";
  if (info.tokenTypes > maxVocabulary)
    return "number of token types";
  if (info.usesPrefix > 1)
    return "use of prefixes";
  return nullptr;
}

static const char *findImpossibleSize(const artifact::ModelInfo &info) {
  if (info.vocabularySize == 0 || info.vocabularySize > maxVocabulary)
    return "vocabulary size";
  if (info.maxSequence == 0 || info.maxSequence > maxTokens)
    return "maximum sequence";
  if (info.weightBytes > maxBytes)
    return "weight bytes";
  if (info.stateBytesPerSlot > maxBytes)
    return "state bytes per slot";
  if (info.stateTokenGroup == 0 || info.stateTokenGroup > maxTokens || info.stateBytesPerToken > maxBytesPerToken ||
      info.sourceBytesPerToken > maxBytesPerToken)
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

static const char *findImpossibleSearch(const artifact::ModelInfo &info) {
  if (info.beams < 1 || info.beams > artifact::maxBeams)
    return "number of beams";
  if (info.newTokens < 0 || info.minNewTokens < 0)
    return "number of new tokens";
  if (info.maxLength < 0 || info.minLength < 0)
    return "length of texts";
  if (info.noRepeatNgram < 0)
    return "length of n-grams";
  if (!std::isfinite(info.lengthPenalty))
    return "length penalty";
  if (info.earlyStopping > static_cast<uint32_t>(artifact::EarlyStopping::Never))
    return "early stopping";
  if (info.renormalize != 0 && info.renormalize != 1)
    return "renormalization";
  if (info.classScores > static_cast<uint32_t>(artifact::ClassScores::Values))
    return "scores of classes";
  return info.pooling > static_cast<uint32_t>(artifact::Pooling::Mean) ? "pooling" : nullptr;
}

const char *findImpossibleFact(const artifact::ModelInfo &info) {
  if (const char *fact = findImpossibleInterface(info))
    return fact;
  if (const char *fact = findImpossibleSize(info))
    return fact;
  auto outside = [&](int32_t id) { return id < 0 || static_cast<uint32_t>(id) >= info.vocabularySize; };
  for (int32_t id : {info.beginToken, info.startToken, info.forcedBegin, info.forcedEnd, info.maskToken})
    if (id != -1 && outside(id))
      return "special token";
  auto areTokens = [&](const int32_t *ids, int32_t count) { return std::none_of(ids, ids + count, outside); };
  for (int32_t count : {info.suppressCount, info.beginSuppressCount})
    if (count < 0 || count > artifact::maxSuppressTokens)
      return "number of suppressed tokens";
  if (!areTokens(info.suppressTokens, info.suppressCount) || !areTokens(info.beginSuppress, info.beginSuppressCount))
    return "suppressed token";
  if (info.forbiddenCount < 0 || info.forbiddenCount > artifact::maxForbidden ||
      !artifact::areTokenGroups(info.forbidden, info.forbiddenCount, info.vocabularySize))
    return "forbidden group of tokens";
  if (info.endTokenCount < 0 || info.endTokenCount > artifact::maxEndTokens)
    return "number of end tokens";
  if (!areTokens(info.endTokens, info.endTokenCount))
    return "end token";
  if (!memchr(info.name, 0, sizeof(info.name)))
    return "name";
  if (const char *fact = findImpossibleSearch(info))
    return fact;
  return findImpossibleSampling(info);
}

}  // namespace talc
