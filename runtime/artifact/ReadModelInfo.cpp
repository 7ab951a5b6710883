// SPDX-License-Identifier: Apache-2.0
// Reads the ModelInfo section, and checks that every value is in a range that makes later arithmetic safe.
#include "runtime/artifact/LogitParts.h"
#include "runtime/artifact/Model.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace talc {

constexpr uint32_t maxVocabulary = 1u << 28, maxTokens = 1u << 30, maxSinkTokens = 64;
constexpr uint64_t maxBytesPerToken = uint64_t(1) << 30;
constexpr uint64_t maxBytes = uint64_t(1) << 46;  // beyond the address space of a process

static const char *findImpossibleOutput(const artifact::ModelInfo &info) {
  using artifact::OutputKind;
  int32_t results = artifact::countResults(info);
  if (results < 1 || results > artifact::maxResults)
    return "result";
  for (const artifact::OutputInfo &output : info.outputs) {
    bool none = output.kind == static_cast<uint32_t>(OutputKind::None);
    if (output.kind > static_cast<uint32_t>(OutputKind::Loss) || output.width > maxVocabulary ||
        none != (output.width == 0))
      return "result";
    if (output.kind == static_cast<uint32_t>(OutputKind::Logits) && output.width != info.vocabularySize)
      return "number of logits";
  }
  return LogitParts(info).areWhole() ? nullptr : "part of logits";
}

static const char *findImpossibleInterface(const artifact::ModelInfo &info) {
  using artifact::ModelKind, artifact::OutputKind;
  auto kind = static_cast<ModelKind>(info.kind);
  if (kind != ModelKind::Decoder && kind != ModelKind::Encoder && kind != ModelKind::EncoderDecoder &&
      kind != ModelKind::Trainer)
    return "kind of model";
  if (const char *output = findImpossibleOutput(info))
    return output;
  bool hasLoss = info.outputs[0].kind == static_cast<uint32_t>(OutputKind::Loss);
  if (hasLoss != (kind == ModelKind::Trainer) ||
      (hasLoss && (info.outputs[0].width != 1 || artifact::countResults(info) != 1)))
    return "result of a trainer";
  bool decodes = kind == ModelKind::Decoder || kind == ModelKind::EncoderDecoder;
  if (decodes && info.outputs[0].kind != static_cast<uint32_t>(OutputKind::Logits))
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
  if (info.longestSequence < info.maxSequence || info.longestSequence > maxTokens)
    return "longest sequence";
  if (info.segment > info.maxSequence ||
      (info.segment && info.kind != static_cast<uint32_t>(artifact::ModelKind::Decoder)))
    return "segment";
  if ((info.window > 0) != (info.stepTokens > 0) || (info.window > 0) != (info.ringTokens > 0) ||
      info.window > maxTokens || info.sinkTokens > maxSinkTokens || (info.sinkTokens > 0 && info.window == 0) ||
      info.stepTokens > maxTokens || info.ringTokens > maxTokens ||
      uint64_t(info.window) + info.stepTokens > uint64_t(info.ringTokens) + 1)
    return "ring of the KV cache";
  if (info.weightBytes > maxBytes)
    return "weight bytes";
  if (info.tableBytes > info.weightBytes)
    return "bytes of rotary tables";
  if (info.kvBytesPerSlot > maxBytes)
    return "number of KV cache bytes per slot";
  if (info.kvTokenGroup == 0 || info.kvTokenGroup > maxTokens || info.kvBytesPerToken > maxBytesPerToken ||
      info.sourceBytesPerToken > maxBytesPerToken)
    return "number of KV cache bytes per token";
  if (info.arenaBytesPerToken > maxBytes || info.arenaBytesFixed > maxBytes || info.arenaBytesPerThread > maxBytes)
    return "arena bytes";
  return nullptr;
}

// Returns the first setting of generation that is out of its range. Tokens must be in the vocabulary.
static const char *findImpossibleSetting(const artifact::ModelInfo &info) {
  const char *wrong = nullptr;
  artifact::forEachSetting(info.generation, [&](const artifact::Setting &setting, const auto &value) {
    bool isToken = setting.range.kind == artifact::SettingKind::Token;
    if (!setting.range.contains(value) || (isToken && value >= static_cast<int64_t>(info.vocabularySize)))
      wrong = wrong ? wrong : setting.title;
  });
  return wrong;
}

// Checks the lists of generation. Only the count of groups is checked, since groups hold lengths, too.
static const char *findImpossibleList(const artifact::ModelInfo &info) {
  auto outside = [&](int32_t id) { return id < 0 || static_cast<uint32_t>(id) >= info.vocabularySize; };
  const char *wrong = nullptr;
  artifact::forEachTokenList(info.generation, [&](const artifact::TokenListSetting &setting, const auto &list) {
    if (wrong)
      return;
    if (list.count < 0 || list.count > setting.maxCount)
      wrong = setting.counted;
    else if (setting.shape == artifact::ListShape::groups
                 ? !artifact::areTokenGroups(list.ids, list.count, info.vocabularySize)
                 : std::any_of(list.begin(), list.end(), outside))
      wrong = setting.title;
  });
  return wrong;
}

// Returns null when the model info is consistent, else the first property that is not.
static const char *findImpossibleFact(const artifact::ModelInfo &info) {
  if (const char *fact = findImpossibleInterface(info))
    return fact;
  if (const char *fact = findImpossibleSize(info))
    return fact;
  if (const char *fact = findImpossibleList(info))
    return fact;
  if (!memchr(info.name, 0, sizeof(info.name)))
    return "name";
  if (info.pooling > static_cast<uint32_t>(artifact::Pooling::Several))
    return "pooling";
  return findImpossibleSetting(info);
}

Status readModelInfo(const Artifact &file, artifact::ModelInfo &facts) {
  const Artifact::LocatedSection *section = file.find(artifact::SectionKind::ModelInfo);
  const char *name = file.name().c_str();
  if (!section || section->header.size != sizeof(facts))
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'model info' has %" PRIu64 " bytes, expected %zu", name,
                           section ? section->header.size : 0, sizeof(facts));
  memcpy(&facts, section->bytes, sizeof(facts));
  if (const char *fact = findImpossibleFact(facts))
    return Status::failure(TALC_ERROR_DAMAGED, "%s: the section 'model info' has an impossible %s", name, fact);
  return {};
}

}  // namespace talc
