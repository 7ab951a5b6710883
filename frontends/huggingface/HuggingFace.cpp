// SPDX-License-Identifier: Apache-2.0
// Chooses the family of a model directory and lets it define the model.
#include "frontends/huggingface/HuggingFace.h"

#include "dialects/talc/TalcDialect.h"
#include "frontends/GraphBuilder.h"
#include "frontends/families/Families.h"
#include "frontends/huggingface/Checkpoint.h"
#include "frontends/huggingface/GenerationConfig.h"
#include "frontends/huggingface/Json.h"
#include "frontends/huggingface/ModelConfig.h"
#include "frontends/huggingface/RandomWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

constexpr const char *configFile = "config.json";

static const Family *chooseFamily(const ModelConfig &config, Diagnostics &diagnostics) {
  std::string type = config.text("model_type", "");
  for (const Family &family : families())
    if (family.modelType == type)
      return &family;
  std::string known;
  for (const Family &family : families())
    known += (known.empty() ? "" : ", ") + std::string(family.modelType);
  diagnostics.error(ImportError::ModelType,
                    fmt::format("{}: {}; talc knows {}", configFile,
                                type.empty() ? "lacks the key 'model_type'" : "model_type is " + quotedText(type),
                                known));
  return nullptr;
}

// Keys that mean the same in every family.
static void checkCommonKeys(const ModelConfig &config, Diagnostics &diagnostics) {
  if (config.has("auto_map"))
    diagnostics.warning(
        fmt::format("{}: names code of its own (auto_map); talc never runs it and compiles the model as "
                    "its model_type says",
                    configFile));
  if (config.has("quantization_config"))
    config.unsupported("quantization_config", "talc reads weights in F32, F16 and BF16 only");
}

static void setAttributes(ModuleOp module, const ModelDirectory &directory, const GenerationConfig &generation) {
  Builder b(module.getContext());
  module->setAttr(directoryAttr, b.getStringAttr(directory.path()));
  module->setAttr(nameAttr, b.getStringAttr(directory.name()));
  module->setAttr(generationAttr,
                  b.getDictionaryAttr({
                      b.getNamedAttr("begin", b.getI64IntegerAttr(generation.begin)),
                      b.getNamedAttr("end", b.getDenseI64ArrayAttr(generation.end)),
                      b.getNamedAttr("sample", b.getBoolAttr(generation.sample)),
                      b.getNamedAttr("temperature", b.getF64FloatAttr(generation.temperature)),
                      b.getNamedAttr("top_k", b.getI64IntegerAttr(generation.topK)),
                      b.getNamedAttr("top_p", b.getF64FloatAttr(generation.topP)),
                      b.getNamedAttr("min_p", b.getF64FloatAttr(generation.minP)),
                      b.getNamedAttr("repetition_penalty", b.getF64FloatAttr(generation.repetitionPenalty)),
                  }));
}

// Logits per row.
static int64_t vocabularySize(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr(entryAttr))
      return cast<RankedTensorType>(function.getResultTypes().front()).getDimSize(1);
  return 0;
}

static OwningOpRef<ModuleOp> define(const Family &family, const ModelConfig &config, WeightSource &weights,
                                    int64_t maxSequence, MLIRContext &context, Diagnostics &diagnostics) {
  GraphBuilder graph(context, weights, diagnostics, maxSequence);
  family.define(graph, config);
  return graph.finish();
}

OwningOpRef<ModuleOp> importHuggingFace(const std::string &path, const HuggingFaceOptions &options,
                                        MLIRContext &context, Diagnostics &diagnostics) {
  constexpr uint64_t configLimit = 1 << 24;
  auto directory = ModelDirectory::open(path, diagnostics);
  auto text = directory ? directory->readText(configFile, configLimit, diagnostics) : std::nullopt;
  auto object = text ? parseJsonObject(*text, configFile, ImportError::ConfigFile, diagnostics) : std::nullopt;
  if (!object)
    return nullptr;
  ModelConfig config(*object, configFile, diagnostics);
  const Family *family = chooseFamily(config, diagnostics);
  if (!family)
    return nullptr;
  checkCommonKeys(config, diagnostics);
  if (diagnostics.failed())
    return nullptr;

  OwningOpRef<ModuleOp> module;
  if (options.randomSeed) {
    RandomWeights weights(*options.randomSeed);
    module = define(*family, config, weights, options.maxSequence, context, diagnostics);
  } else if (auto checkpoint = Checkpoint::open(*directory, std::string(family->basePrefix), diagnostics)) {
    module = define(*family, config, *checkpoint, options.maxSequence, context, diagnostics);
    if (module)
      checkpoint->reportUnused();
  }
  if (!module)
    return nullptr;
  GenerationConfig defaults;
  defaults.begin = family->begin;
  defaults.end = family->end < 0 ? std::vector<int64_t>() : std::vector<int64_t>{family->end};
  auto generation = readGenerationConfig(*directory, *object, defaults, vocabularySize(*module), diagnostics);
  if (diagnostics.failed())
    return nullptr;
  setAttributes(*module, *directory, generation);
  return module;
}

}  // namespace talc
