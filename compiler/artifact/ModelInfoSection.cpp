// SPDX-License-Identifier: Apache-2.0
// Reads talc.interface, talc.plan, talc.max_sequence, talc.longest_sequence and talc.pooling.
#include "compiler/artifact/Sections.h"

#include "compiler/Error.h"
#include "dialects/talc/LogitParts.h"
#include "dialects/talc/ModelName.h"
#include "dialects/talc/ModuleKeys.h"

using namespace mlir;

namespace talc {

// A figure of the plan or interface; an earlier stage wrote it, so its absence is a defect. The limits are the
// runtime's.
static llvm::Error readFigure(DictionaryAttr figures, llvm::StringRef name, int64_t limit, int64_t &value) {
  auto figure = figures ? figures.getAs<IntegerAttr>(name) : IntegerAttr();
  if (!figure || !figure.getType().isSignlessInteger(64))
    return internalError("the module lacks the figure '{}'", name.str());
  value = figure.getInt();
  if (value < 0 || value > limit)
    return makeError(ErrorCode::ModelInfo, "the model is too large: its figure '{}' is {}, expected 0 to {}",
                     name.str(), value, limit);
  return llvm::Error::success();
}

// The place of a name in a list of names, counted from 1; 0 for another name.
static uint32_t indexOfName(Attribute name, llvm::ArrayRef<llvm::StringLiteral> names) {
  auto text = dyn_cast_or_null<StringAttr>(name);
  auto it = text ? llvm::find(names, text.getValue()) : names.end();
  return it == names.end() ? 0 : static_cast<uint32_t>(it - names.begin()) + 1;
}

// Kinds of models and results are numbered as listed here.
static llvm::Error readOutputs(DictionaryAttr interface, artifact::ModelInfo &info) {
  static constexpr llvm::StringLiteral kinds[] = {"decoder", "encoder", "encoder_decoder", "trainer"};
  static constexpr llvm::StringLiteral results[] = {logitsOutput, hiddenOutput, classesOutput, tokenClassesOutput,
                                                    headOutput,   tailOutput,   lossOutput};
  static_assert(static_cast<uint32_t>(artifact::ModelKind::Trainer) == std::size(kinds) &&
                static_cast<uint32_t>(artifact::OutputKind::Loss) == std::size(results));
  auto outputs = interface ? interface.getAs<ArrayAttr>("outputs") : ArrayAttr();
  info.kind = indexOfName(interface ? interface.get("kind") : Attribute(), kinds);
  if (!outputs || outputs.empty() || outputs.size() > std::size(info.outputs) || info.kind == 0)
    return internalError("the module lacks a correct {}", interfaceAttr.str());
  for (auto [output, target] : llvm::zip(outputs, info.outputs)) {
    auto entry = dyn_cast<DictionaryAttr>(output);
    int64_t width = 0;
    if (llvm::Error error = readFigure(entry, "width", int64_t(1) << 28, width))
      return error;
    target = {indexOfName(entry.get("kind"), results), static_cast<uint32_t>(width)};
  }
  return llvm::Error::success();
}

static llvm::Error readInterface(DictionaryAttr interface, artifact::ModelInfo &info) {
  if (llvm::Error error = readOutputs(interface, info))
    return error;
  const std::pair<const char *, uint32_t *> figures[] = {{"vocabulary", &info.vocabularySize},
                                                         {"source_vocabulary", &info.sourceVocabularySize},
                                                         {"token_types", &info.tokenTypes}};
  for (auto [name, target] : figures) {
    int64_t value = 0;
    if (llvm::Error error = readFigure(interface, name, int64_t(1) << 28, value))
      return error;
    *target = static_cast<uint32_t>(value);
  }
  auto prefix = interface.getAs<BoolAttr>("uses_prefix");
  info.usesPrefix = prefix && prefix.getValue();
  return llvm::Error::success();
}

static llvm::Error readPlan(DictionaryAttr plan, artifact::ModelInfo &info) {
  constexpr int64_t maxBytes = int64_t(1) << 46, maxTokens = int64_t(1) << 30, maxBytesPerToken = int64_t(1) << 30;
  auto read = [&](llvm::StringRef name, int64_t limit, uint64_t &target) {
    int64_t value = 0;
    llvm::Error error = readFigure(plan, name, limit, value);
    target = value;
    return error;
  };
  const std::tuple<const char *, int64_t, uint64_t *> figures[] = {
      {planKeys::weightBytes, maxBytes, &info.weightBytes},
      {slotBytesKey.data(), maxBytes, &info.kvBytesPerSlot},
      {planKeys::kvBytesPerToken, maxBytesPerToken, &info.kvBytesPerToken},
      {planKeys::sourceBytesPerToken, maxBytesPerToken, &info.sourceBytesPerToken},
      {planKeys::kvTokenGroup, maxTokens, &info.kvTokenGroup},
      {planKeys::arenaBytesPerToken, maxBytes, &info.arenaBytesPerToken},
      {planKeys::arenaBytesFixed, maxBytes, &info.arenaBytesFixed},
      {planKeys::arenaBytesPerThread, maxBytes, &info.arenaBytesPerThread},
  };
  for (auto [name, limit, target] : figures)
    if (llvm::Error error = read(name, limit, *target))
      return error;
  return plan.contains(planKeys::tableBytes)
             ? read(planKeys::tableBytes, static_cast<int64_t>(info.weightBytes), info.tableBytes)
             : llvm::Error::success();
}

// Models with rings have all of these.
static llvm::Error readRings(DictionaryAttr interface, DictionaryAttr plan, artifact::ModelInfo &info) {
  constexpr int64_t maxTokens = int64_t(1) << 30;
  const std::tuple<DictionaryAttr, const char *, uint32_t *> figures[] = {
      {interface, "window", &info.window},
      {interface, "kept", &info.sinkTokens},
      {interface, "step_tokens", &info.stepTokens},
      {plan, planKeys::ringTokens, &info.ringTokens},
  };
  if (!interface || !interface.contains("window"))
    return llvm::Error::success();
  for (auto [place, name, target] : figures) {
    int64_t value = 0;
    if (llvm::Error error = readFigure(place, name, maxTokens, value))
      return error;
    *target = static_cast<uint32_t>(value);
  }
  return llvm::Error::success();
}

// Cut between characters.
static void copyName(const std::string &name, artifact::ModelInfo &info) {
  size_t length = std::min(name.size(), sizeof(info.name) - 1);
  while (length > 0 && length < name.size() && (name[length] & 0xC0) == 0x80)
    --length;
  std::memcpy(info.name, name.data(), length);
}

// A program that does not say how long its sequences could be has them as long as they can be.
static llvm::Error readLengths(ModuleOp module, artifact::ModelInfo &info) {
  constexpr int64_t mostTokens = int64_t(1) << 30;
  auto maxSequence = module->getAttrOfType<IntegerAttr>(maxSequenceAttr);
  if (!maxSequence || maxSequence.getInt() < 1 || maxSequence.getInt() > mostTokens)
    return makeError(ErrorCode::ModelInfo, "{}: {} is absent or out of range, expected 1 to 2^30 tokens",
                     modelName(module), maxSequenceAttr.str());
  auto longest = module->getAttrOfType<IntegerAttr>(longestSequenceAttr);
  if (longest && (longest.getInt() < maxSequence.getInt() || longest.getInt() > mostTokens))
    return makeError(ErrorCode::ModelInfo, "{}: {} is {}, expected {} to 2^30 tokens", modelName(module),
                     longestSequenceAttr.str(), longest.getInt(), maxSequence.getInt());
  info.maxSequence = static_cast<uint32_t>(maxSequence.getInt());
  info.longestSequence = static_cast<uint32_t>((longest ? longest : maxSequence).getInt());
  if (module->hasAttr(segmentedAttr)) {
    info.segment = info.maxSequence;
    info.maxSequence = info.longestSequence = mostTokens;
  }
  return llvm::Error::success();
}

llvm::Expected<artifact::ModelInfo> makeModelInfo(ModuleOp module) {
  artifact::ModelInfo info = {};
  copyName(modelName(module), info);
  if (llvm::Error error = readInterface(module->getAttrOfType<DictionaryAttr>(interfaceAttr), info))
    return std::move(error);
  if (llvm::Error error = readPlan(module->getAttrOfType<DictionaryAttr>(planAttr), info))
    return std::move(error);
  if (llvm::Error error = readRings(module->getAttrOfType<DictionaryAttr>(interfaceAttr),
                                    module->getAttrOfType<DictionaryAttr>(planAttr), info))
    return std::move(error);
  if (llvm::Error error = readLengths(module, info))
    return std::move(error);
  auto pooling = readPooling(module);
  if (!pooling)
    return pooling.takeError();
  info.pooling = static_cast<uint32_t>(*pooling);
  auto generation = readGeneration(module, info.vocabularySize);
  if (!generation)
    return generation.takeError();
  info.generation = *generation;
  return info;
}

}  // namespace talc
