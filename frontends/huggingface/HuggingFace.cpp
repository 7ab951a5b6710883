// SPDX-License-Identifier: Apache-2.0
// Chooses the family of a model directory and lets it define the model.
#include "frontends/huggingface/HuggingFace.h"

#include "dialects/talc/TalcDialect.h"
#include "frontends/GraphBuilder.h"
#include "frontends/Json.h"
#include "frontends/ModelAttributes.h"
#include "frontends/ModelConfig.h"
#include "frontends/RandomWeights.h"
#include "frontends/families/Families.h"
#include "frontends/huggingface/Checkpoint.h"
#include "frontends/huggingface/JsonConfig.h"
#include "frontends/huggingface/OtherCheckpoints.h"
#include "frontends/huggingface/SentenceModel.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "runtime/NearestWord.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

using namespace mlir;

namespace talc {

constexpr const char *configFile = "config.json";

// The directory that was named, and the one with the model's own files, which modules.json may put in a folder.
struct ModelFolders {
  const ModelDirectory &named, &transformer;
};

static const Family *chooseFamily(const ModelConfig &config, Diagnostics &diagnostics) {
  std::string type = config.text("model_type", "");
  for (const Family &family : families())
    if (family.modelType == type)
      return &family;
  std::vector<std::string> modelTypes;
  for (const Family &family : families())
    modelTypes.emplace_back(family.modelType);
  std::string message = "model_type is " + quotedText(type) + suggestion(type, modelTypes);
  diagnostics.error(ImportError::ModelType,
                    fmt::format("{}: {}; talc knows {}", configFile,
                                type.empty() ? "lacks the key 'model_type'" : message, fmt::join(modelTypes, ", ")));
  return nullptr;
}

// Keys that mean the same in every family.
static void checkCommonKeys(const ModelConfig &config, Diagnostics &diagnostics) {
  if (config.has("auto_map"))
    diagnostics.warning(
        fmt::format("{}: names code of its own (auto_map); talc never runs it and compiles the model as "
                    "its model_type says",
                    configFile));
}

static OwningOpRef<ModuleOp> define(const Family &family, const ModelConfig &config, WeightSource &weights,
                                    const ImportOptions &options, bool embedsTexts, MLIRContext &context,
                                    Diagnostics &diagnostics) {
  GraphBuilder graph(context, weights, diagnostics, options.maxSequence);
  graph.useSinkTokens(options.sinks);
  if (config.flag("prefix_lm", false))
    graph.usePrefixMasks();
  if (embedsTexts)
    graph.useAsEmbedder();
  family.define(graph, config);
  return graph.finish();
}

// modules.json, and the weights of its modules.
static SentenceModel readModules(const ModelDirectory &directory, const ImportOptions &options, MLIRContext &context,
                                 Diagnostics &diagnostics) {
  auto open = [&](const ModelDirectory &folder) -> std::unique_ptr<WeightSource> {
    if (options.randomSeed)
      return std::make_unique<RandomWeights>(*options.randomSeed);
    auto checkpoint = Checkpoint::open(folder, "", diagnostics);
    keepWeightFiles(folder, context, diagnostics);
    return checkpoint ? std::make_unique<Checkpoint>(std::move(*checkpoint)) : nullptr;
  };
  return readSentenceModules(directory, open, diagnostics);
}

// A model with modules.json returns hidden states, or the classes of a cross-encoder.
static void checkEmbedder(ModuleOp module, const SentenceModel &sentence, const Family &family,
                          Diagnostics &diagnostics) {
  if (!sentence.hasModules || hasOutput(module, hiddenOutput) || hasOutput(module, classesOutput))
    return;
  diagnostics.error(ImportError::ConfigUnsupported,
                    fmt::format("modules.json: makes embeddings of texts, but talc compiles the model_type {} only to "
                                "generate text; without that file it does",
                                quotedText(family.modelType)));
}

// Decoders become embedders by attention in both directions, which is_causal = false asks for.
static void checkCausality(ModuleOp module, const ModelConfig &config) {
  const char *key = "is_causal";
  if (config.isFlag(key) && !config.flag(key, true) && hasCausalAttention(module))
    config.unsupported(key, "is false, but talc compiles this model_type with causal attention only");
}

static void readSentence(ModuleOp module, const ModelFolders &folders, const nlohmann::json &config,
                         SentenceModel &sentence, ModelAttributes &result, Diagnostics &diagnostics) {
  constexpr int64_t endless = 1 << 30;
  auto longest = module->getAttrOfType<IntegerAttr>(longestSequenceAttr);
  int64_t positions = longest ? longest.getInt() : endless;
  if (positions >= endless)
    positions = module->getAttrOfType<IntegerAttr>(maxSequenceAttr).getInt();
  std::optional<artifact::ClassScores> scores;
  if (hasOutput(module, classesOutput))
    scores = readCrossEncoderScores(folders.named, config, diagnostics);
  if (scores)
    result.generation.classScores = static_cast<int64_t>(*scores);
  readSentenceTexts(folders.named, folders.transformer, positions, scores.has_value(), sentence, diagnostics);
  int64_t width = outputWidth(module, hiddenOutput);
  if (width > 0 && sentence.width > 0 && sentence.width != width)
    diagnostics.error(
        ImportError::ConfigValue,
        fmt::format("modules.json: pools {} features, but the model's hidden states have {}", sentence.width, width));
  result.pooling = poolingAttribute(sentence, width > 0, *module.getContext());
}

// Settings from other files than the configuration and the weights.
static ModelAttributes readAttributes(ModuleOp module, const ModelFolders &folders, const nlohmann::json &config,
                                      const Family &family, SentenceModel &sentence, Diagnostics &diagnostics) {
  const int64_t vocabulary = vocabularySize(module);
  const ModelDirectory &directory = folders.transformer;
  ModelAttributes result{directory.path(), folders.named.name(), std::string(family.modelType),
                         readGenerationConfig(directory, config, family.tokens, vocabulary, diagnostics)};
  int64_t mask = predictsMaskedTokens(module) ? findMaskToken(directory) : -1;
  result.generation.maskToken = mask < vocabulary ? mask : -1;
  if (hasOutput(module, hiddenOutput) || hasOutput(module, classesOutput))
    readSentence(module, folders, config, sentence, result, diagnostics);
  return result;
}

bool isHuggingFace(const std::string &model) {
  return llvm::sys::fs::is_directory(model);
}

// The path of the directory with the model's own files.
static std::string transformerPath(const std::string &model) {
  Diagnostics ignored;
  auto directory = ModelDirectory::open(model, ignored);
  std::string folder = directory ? transformerFolder(*directory) : std::string();
  return folder.empty() ? model : model + "/" + folder;
}

bool isHuggingFaceFile(const std::string &model, const std::string &file) {
  llvm::StringRef folder = llvm::sys::path::parent_path(file), kind = llvm::sys::path::extension(file);
  auto isIn = [&](const std::string &place) { return llvm::sys::fs::equivalent(folder.empty() ? "." : folder, place); };
  return (isIn(model) || isIn(transformerPath(model))) && llvm::sys::fs::exists(file) &&
         llvm::is_contained({".json", ".safetensors", ".txt", ".model", ".spm"}, kind);
}

std::optional<std::vector<uint8_t>> compileHuggingFaceTokenizer(const std::string &model, std::string &error,
                                                                std::vector<std::string> *warnings) {
  return frontend::compileTokenizerDirectory(transformerPath(model), error, warnings);
}

static OwningOpRef<ModuleOp> importModel(const ModelFolders &folders, const ImportOptions &options,
                                         MLIRContext &context, Diagnostics &diagnostics) {
  constexpr uint64_t configLimit = 1 << 24;
  const ModelDirectory &directory = folders.transformer;
  const bool isEnough = options.randomSeed && directory.contains(configFile);
  if (!isEnough && reportOtherDirectory(directory, diagnostics))
    return nullptr;
  auto text = directory.readText(configFile, configLimit, diagnostics);
  auto object = text ? parseJsonObject(*text, configFile, ImportError::ConfigFile, diagnostics) : std::nullopt;
  if (!object || reportOtherConfig(*object, diagnostics))
    return nullptr;
  const bool composed = takeTexts(*object, diagnostics);
  JsonConfig source(*object, configFile);
  ModelConfig config(source, diagnostics);
  const Family *family = chooseFamily(config, diagnostics);
  if (!family)
    return nullptr;
  config.knowClass(family->otherClass);
  checkCommonKeys(config, diagnostics);
  if (diagnostics.failed())
    return nullptr;

  OwningOpRef<ModuleOp> module;
  SentenceModel sentence = readModules(folders.named, options, context, diagnostics);
  QuantizationPtr quantization = readQuantization(directory, *object, diagnostics);
  if (diagnostics.failed())
    return nullptr;
  if (options.randomSeed) {
    RandomWeights weights(*options.randomSeed);
    module = define(*family, config, weights, options, sentence.hasModules, context, diagnostics);
  } else if (auto checkpoint =
                 Checkpoint::open(directory, std::string(family->basePrefix), diagnostics, quantization.get())) {
    if (composed)
      checkpoint->keepTextModel();
    module = define(*family, config, *checkpoint, options, sentence.hasModules, context, diagnostics);
    if (module)
      checkpoint->reportUnused(options.allowsUnused);
  }
  if (!options.allowsUnused)
    refuseUnreadKeys(config, *object);
  if (!module)
    return nullptr;
  checkCausality(*module, config);
  checkEmbedder(*module, sentence, *family, diagnostics);
  keepWeightFiles(directory, context, diagnostics);
  setModelAttributes(*module, readAttributes(*module, folders, *object, *family, sentence, diagnostics));
  if (diagnostics.failed())
    return nullptr;
  return module;
}

OwningOpRef<ModuleOp> importHuggingFace(const std::string &model, const ImportOptions &options, MLIRContext &context,
                                        Diagnostics &diagnostics) {
  auto directory = ModelDirectory::open(model, diagnostics);
  if (!directory)
    return nullptr;
  std::string name = transformerFolder(*directory);
  if (name.empty())
    return importModel({*directory, *directory}, options, context, diagnostics);
  auto folder = directory->folder(name, diagnostics);
  return folder ? importModel({*directory, *folder}, options, context, diagnostics) : nullptr;
}

}  // namespace talc
