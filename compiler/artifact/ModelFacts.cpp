// SPDX-License-Identifier: Apache-2.0
// Reads talc.interface, talc.plan, talc.max_sequence and talc.generation.
#include "compiler/artifact/ModelFacts.h"

#include "compiler/Error.h"
#include "dialects/talc/ModelName.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

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
    return makeError(ErrorCode::ModelFact, "the model is too large: its figure '{}' is {}, expected 0 to {}",
                     name.str(), value, limit);
  return llvm::Error::success();
}

// The place of a name in a list of names, counted from 1; 0 for another name.
static uint32_t placeOf(Attribute name, llvm::ArrayRef<llvm::StringLiteral> names) {
  auto text = dyn_cast_or_null<StringAttr>(name);
  auto found = text ? llvm::find(names, text.getValue()) : names.end();
  return found == names.end() ? 0 : static_cast<uint32_t>(found - names.begin()) + 1;
}

// Kinds of models and results are numbered as listed here.
static llvm::Error readOutputs(DictionaryAttr interface, artifact::ModelInfo &info) {
  static constexpr llvm::StringLiteral kinds[] = {"decoder", "encoder", "encoder_decoder"};
  static constexpr llvm::StringLiteral results[] = {logitsOutput, hiddenOutput, classesOutput, tokenClassesOutput};
  static_assert(static_cast<uint32_t>(artifact::ModelKind::EncoderDecoder) == std::size(kinds) &&
                static_cast<uint32_t>(artifact::OutputKind::TokenClasses) == std::size(results));
  auto outputs = interface ? interface.getAs<ArrayAttr>("outputs") : ArrayAttr();
  info.kind = placeOf(interface ? interface.get("kind") : Attribute(), kinds);
  if (!outputs || outputs.empty() || outputs.size() > std::size(info.outputs) || info.kind == 0)
    return internalError("the module lacks a correct {}", interfaceAttr.str());
  for (auto [output, target] : llvm::zip(outputs, info.outputs)) {
    auto entry = dyn_cast<DictionaryAttr>(output);
    int64_t width = 0;
    if (llvm::Error error = readFigure(entry, "width", int64_t(1) << 28, width))
      return error;
    target = {placeOf(entry.get("kind"), results), static_cast<uint32_t>(width)};
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
      {"weight_bytes", maxBytes, &info.weightBytes},
      {slotBytesKey.data(), maxBytes, &info.stateBytesPerSlot},
      {"state_bytes_per_token", maxBytesPerToken, &info.stateBytesPerToken},
      {"source_bytes_per_token", maxBytesPerToken, &info.sourceBytesPerToken},
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

// Reads the dictionary of generation defaults; remembers the first entry that is wrong, and what it should be.
class GenerationReader {
public:
  explicit GenerationReader(DictionaryAttr entries) : entries(entries) {}

  void number(llvm::StringRef name, float &target, double low, double high) {
    Attribute attr = find(name);
    if (!attr)
      return;
    double value = std::nan("");
    if (auto real = dyn_cast<FloatAttr>(attr))
      value = real.getValueAsDouble();
    else if (auto whole = dyn_cast<IntegerAttr>(attr))
      value = static_cast<double>(whole.getValue().getSExtValue());
    target = static_cast<float>(value);
    require(name, std::isfinite(value) && value >= low && value <= high,
            fmt::format("a number from {} to {}", low, high));
  }

  void integer(llvm::StringRef name, int32_t &target, int64_t low, int64_t high) {
    if (Attribute attr = find(name))
      target = integer(name, attr, low, high);
  }

  void flag(llvm::StringRef name, int32_t &target) {
    if (Attribute attr = find(name)) {
      target = isa<BoolAttr>(attr) && cast<BoolAttr>(attr).getValue();
      require(name, isa<BoolAttr>(attr), "true or false");
    }
  }

  // A list of at most `targets.size()` token ids, each at most `last`.
  void tokens(llvm::StringRef name, int64_t last, llvm::MutableArrayRef<int32_t> targets, int32_t &number) {
    Attribute attr = find(name);
    if (!attr)
      return;
    auto list = dyn_cast<ArrayAttr>(attr);
    auto dense = dyn_cast<DenseI64ArrayAttr>(attr);
    size_t count = list ? list.size() : dense ? dense.size() : 0;
    std::string expected = fmt::format("at most {} integers from 0 to {}", targets.size(), last);
    require(name, (list || dense) && count <= targets.size(), expected);
    if (wrong)
      return;
    for (size_t i = 0; i < count; ++i) {
      targets[i] = list ? integer(name, list[i], 0, last) : static_cast<int32_t>(dense[i]);
      require(name, !dense || (dense[i] >= 0 && dense[i] <= last), expected);
    }
    number = static_cast<int32_t>(count);
  }

  // Groups of tokens that may not occur.
  void groups(llvm::StringRef name, artifact::ModelInfo &info) {
    int64_t last = std::max<int64_t>(int64_t(info.vocabularySize) - 1, artifact::maxForbidden);
    tokens(name, last, info.forbidden, info.forbiddenCount);
    require(name, wrong || artifact::areTokenGroups(info.forbidden, info.forbiddenCount, info.vocabularySize),
            fmt::format("groups of two token ids or more below {}, each after its length", info.vocabularySize));
  }

  // One of the names, as its place in the list.
  void choice(llvm::StringRef name, uint32_t &target, llvm::ArrayRef<llvm::StringLiteral> names) {
    if (Attribute attr = find(name)) {
      uint32_t place = placeOf(attr, names);
      require(name, place > 0, llvm::join(names, ", "));
      target = place > 0 ? place - 1 : target;
    }
  }

  llvm::Error finish(const std::string &model) {
    for (NamedAttribute entry : entries)
      require(entry.getName(), llvm::is_contained(known, entry.getName().getValue()),
              "one of " + llvm::join(known, ", "));
    if (!wrong)
      return llvm::Error::success();
    std::string value;
    llvm::raw_string_ostream(value) << entries.get(*wrong);
    return makeError(ErrorCode::ModelFact, "{}: the generation default '{}' is {}, expected {}", model, wrong->str(),
                     value, expectation);
  }

private:
  Attribute find(llvm::StringRef name) {
    known.push_back(name);
    return entries.get(name);
  }

  int32_t integer(llvm::StringRef name, Attribute attr, int64_t low, int64_t high) {
    auto value = dyn_cast<IntegerAttr>(attr);
    bool fits = value && value.getValue().getSignificantBits() <= 64 && value.getValue().getSExtValue() >= low &&
                value.getValue().getSExtValue() <= high;
    require(name, fits, fmt::format("an integer from {} to {}", low, high));
    return fits ? static_cast<int32_t>(value.getValue().getSExtValue()) : 0;
  }

  void require(llvm::StringRef name, bool holds, const std::string &expected) {
    if (holds || wrong)
      return;
    wrong = name;
    expectation = expected;
  }

  DictionaryAttr entries;
  llvm::SmallVector<llvm::StringRef> known;
  std::optional<llvm::StringRef> wrong;
  std::string expectation;
};

}  // namespace

static llvm::Error readGeneration(DictionaryAttr entries, const std::string &model, artifact::ModelInfo &info) {
  GenerationReader reader(entries);
  int64_t last = int64_t(info.vocabularySize) - 1;
  const std::pair<const char *, int32_t *> tokens[] = {{"begin", &info.beginToken},
                                                       {"start", &info.startToken},
                                                       {"forced_begin", &info.forcedBegin},
                                                       {"forced_end", &info.forcedEnd},
                                                       {"mask", &info.maskToken}};
  for (auto [name, target] : tokens)
    reader.integer(name, *target, -1, last);
  reader.tokens("end", last, info.endTokens, info.endTokenCount);
  reader.tokens("suppress", last, info.suppressTokens, info.suppressCount);
  reader.tokens("begin_suppress", last, info.beginSuppress, info.beginSuppressCount);
  reader.groups("forbidden", info);
  reader.integer("beams", info.beams, 1, artifact::maxBeams);
  const std::pair<const char *, int32_t *> counts[] = {
      {"new_tokens", &info.newTokens}, {"max_length", &info.maxLength},          {"min_new_tokens", &info.minNewTokens},
      {"min_length", &info.minLength}, {"no_repeat_ngram", &info.noRepeatNgram}, {"top_k", &info.topK}};
  for (auto [name, target] : counts)
    reader.integer(name, *target, 0, INT32_MAX);
  reader.number("length_penalty", info.lengthPenalty, -1e6, 1e6);
  static constexpr llvm::StringLiteral scores[] = {"softmax", "sigmoid", "values"};
  reader.choice("class_scores", info.classScores, scores);
  static constexpr llvm::StringLiteral stops[] = {"no", "yes", "never"};
  reader.choice("early_stopping", info.earlyStopping, stops);
  reader.flag("renormalize", info.renormalize);
  reader.flag("sample", info.sample);
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
  info.beginToken = info.startToken = info.forcedBegin = info.forcedEnd = info.maskToken = -1;
  info.temperature = info.topP = info.repetitionPenalty = info.lengthPenalty = 1;
  info.beams = 1;
  copyName(modelName(module), info);
  if (llvm::Error error = readInterface(module->getAttrOfType<DictionaryAttr>(interfaceAttr), info))
    return std::move(error);
  if (llvm::Error error = readPlan(module->getAttrOfType<DictionaryAttr>(planAttr), info))
    return std::move(error);
  auto longest = module->getAttrOfType<IntegerAttr>(maxSequenceAttr);
  if (!longest || longest.getInt() < 1 || longest.getInt() > (int64_t(1) << 30))
    return makeError(ErrorCode::ModelFact, "{}: {} is absent or out of range, expected 1 to 2^30 tokens",
                     modelName(module), maxSequenceAttr.str());
  info.maxSequence = static_cast<uint32_t>(longest.getInt());
  if (Attribute pooling = module->getAttr(poolingAttr)) {
    static constexpr llvm::StringLiteral poolings[] = {"none", "cls", "mean"};
    uint32_t place = placeOf(pooling, poolings);
    if (place == 0)
      return makeError(ErrorCode::ModelFact, "{}: {} is unknown, expected cls, mean or none", modelName(module),
                       poolingAttr.str());
    info.pooling = place - 1;
  }
  if (auto generation = module->getAttrOfType<DictionaryAttr>(generationAttr))
    if (llvm::Error error = readGeneration(generation, modelName(module), info))
      return std::move(error);
  return info;
}

}  // namespace talc
