// SPDX-License-Identifier: Apache-2.0
// Reads talc.plan, talc.max_sequence and talc.generation.
#include "compiler/artifact/ModelFacts.h"

#include "compiler/Error.h"
#include "dialects/talc/TalcDialect.h"

#include <cmath>

using namespace mlir;

namespace talc {

std::string modelName(ModuleOp module) {
  auto name = module->getAttrOfType<StringAttr>(nameAttr);
  return name && !name.getValue().empty() ? name.str() : "model";
}

// A figure of the plan; stage codegen wrote it, so its absence is a defect.
static llvm::Error readFigure(DictionaryAttr plan, llvm::StringRef name, int64_t limit, int64_t &value) {
  auto figure = plan ? plan.getAs<IntegerAttr>(name) : IntegerAttr();
  if (!figure || !figure.getType().isSignlessInteger(64))
    return internalError("the module's {} lacks the figure '{}'", planAttr.str(), name.str());
  value = figure.getInt();
  if (value < 0 || value > limit)
    return internalError("the figure '{}' of the module's {} is {}, expected 0 to {}", name.str(), planAttr.str(),
                         value, limit);
  return llvm::Error::success();
}

static llvm::Error readPlan(DictionaryAttr plan, artifact::ModelInfo &info) {
  constexpr int64_t maxBytes = int64_t(1) << 46, maxTokens = int64_t(1) << 30, maxBytesPerToken = int64_t(1) << 30;
  int64_t vocabulary = 0;
  auto read = [&](llvm::StringRef name, int64_t limit, uint64_t &target) {
    int64_t value = 0;
    llvm::Error error = readFigure(plan, name, limit, value);
    target = value;
    return error;
  };
  if (llvm::Error error = readFigure(plan, "vocabulary", int64_t(1) << 28, vocabulary))
    return error;
  info.vocabularySize = static_cast<uint32_t>(vocabulary);
  const std::tuple<const char *, int64_t, uint64_t *> figures[] = {
      {"weight_bytes", maxBytes, &info.weightBytes},
      {"state_bytes_per_slot", maxBytes, &info.stateBytesPerSlot},
      {"state_bytes_per_token", maxBytesPerToken, &info.stateBytesPerToken},
      {"state_token_group", maxTokens, &info.stateTokenGroup},
      {"arena_bytes_per_token", maxBytes, &info.arenaBytesPerToken},
      {"arena_bytes_fixed", maxBytes, &info.arenaBytesFixed},
      {"arena_bytes_per_thread", maxBytes, &info.arenaBytesPerThread},
  };
  for (auto [name, limit, target] : figures)
    if (llvm::Error error = read(name, limit, *target))
      return error;
  return llvm::Error::success();
}

namespace {

// Reads the dictionary of generation defaults; remembers the first entry that is wrong.
class GenerationReader {
public:
  explicit GenerationReader(DictionaryAttr entries) : entries(entries) {}

  void number(llvm::StringRef name, float &target, double low, double high) {
    Attribute attr = entries.get(name);
    if (!attr)
      return;
    double value = std::nan("");
    if (auto real = dyn_cast<FloatAttr>(attr))
      value = real.getValueAsDouble();
    else if (auto whole = dyn_cast<IntegerAttr>(attr))
      value = static_cast<double>(whole.getValue().getSExtValue());
    target = static_cast<float>(value);
    require(name, std::isfinite(value) && value >= low && value <= high);
  }

  void integer(llvm::StringRef name, int32_t &target, int64_t low, int64_t high) {
    if (Attribute attr = entries.get(name))
      target = integer(name, attr, low, high);
  }

  void flag(llvm::StringRef name, int32_t &target) {
    if (Attribute attr = entries.get(name)) {
      target = isa<BoolAttr>(attr) && cast<BoolAttr>(attr).getValue();
      require(name, isa<BoolAttr>(attr));
    }
  }

  void tokens(llvm::StringRef name, artifact::ModelInfo &info) {
    Attribute attr = entries.get(name);
    if (!attr)
      return;
    auto list = dyn_cast<ArrayAttr>(attr);
    auto dense = dyn_cast<DenseI64ArrayAttr>(attr);
    size_t count = list ? list.size() : dense ? dense.size() : 0;
    require(name, (list || dense) && count <= artifact::maxEndTokens);
    if (wrong)
      return;
    int64_t last = int64_t(info.vocabularySize) - 1;
    for (size_t i = 0; i < count; ++i) {
      info.endTokens[i] = list ? integer(name, list[i], 0, last) : static_cast<int32_t>(dense[i]);
      require(name, !dense || (dense[i] >= 0 && dense[i] <= last));
    }
    info.endTokenCount = static_cast<int32_t>(count);
  }

  llvm::Error finish(const std::string &model) {
    if (!wrong)
      return llvm::Error::success();
    std::string value;
    llvm::raw_string_ostream(value) << entries.get(*wrong);
    return makeError(ErrorCode::ModelFact, "{}: the generation default '{}' is {}, which no artifact can hold", model,
                     wrong->str(), value);
  }

private:
  int32_t integer(llvm::StringRef name, Attribute attr, int64_t low, int64_t high) {
    auto value = dyn_cast<IntegerAttr>(attr);
    bool fits = value && value.getValue().getSignificantBits() <= 64 && value.getValue().getSExtValue() >= low &&
                value.getValue().getSExtValue() <= high;
    require(name, fits);
    return fits ? static_cast<int32_t>(value.getValue().getSExtValue()) : 0;
  }

  void require(llvm::StringRef name, bool holds) {
    if (!holds && !wrong)
      wrong = name;
  }

  DictionaryAttr entries;
  std::optional<llvm::StringRef> wrong;
};

}  // namespace

static llvm::Error readGeneration(DictionaryAttr entries, const std::string &model, artifact::ModelInfo &info) {
  GenerationReader reader(entries);
  reader.integer("begin", info.beginToken, -1, int64_t(info.vocabularySize) - 1);
  reader.tokens("end", info);
  reader.flag("sample", info.sample);
  reader.integer("top_k", info.topK, 0, INT32_MAX);
  reader.number("temperature", info.temperature, 0, 1e6);
  reader.number("top_p", info.topP, 1e-6, 1);
  reader.number("min_p", info.minP, 0, 1);
  reader.number("repetition_penalty", info.repetitionPenalty, 1e-6, 1e6);
  return reader.finish(model);
}

// Cut between characters.
static void copyName(const std::string &name, artifact::ModelInfo &info) {
  size_t length = std::min(name.size(), sizeof(info.name) - 1);
  while (length > 0 && length < name.size() && (name[length] & 0xC0) == 0x80)
    --length;
  std::memcpy(info.name, name.data(), length);
}

llvm::Expected<artifact::ModelInfo> modelFacts(ModuleOp module) {
  artifact::ModelInfo info = {};
  info.beginToken = -1;
  info.temperature = info.topP = info.repetitionPenalty = 1;
  copyName(modelName(module), info);
  if (llvm::Error error = readPlan(module->getAttrOfType<DictionaryAttr>(planAttr), info))
    return std::move(error);
  auto longest = module->getAttrOfType<IntegerAttr>(maxSequenceAttr);
  if (!longest || longest.getInt() < 1 || longest.getInt() > (int64_t(1) << 30))
    return makeError(ErrorCode::ModelFact, "{}: {} is absent or out of range, expected 1 to 2^30 tokens",
                     modelName(module), maxSequenceAttr.str());
  info.maxSequence = static_cast<uint32_t>(longest.getInt());
  if (auto generation = module->getAttrOfType<DictionaryAttr>(generationAttr))
    if (llvm::Error error = readGeneration(generation, modelName(module), info))
      return std::move(error);
  return info;
}

}  // namespace talc
