// SPDX-License-Identifier: Apache-2.0
// Chooses the family of a GGUF model and lets it define the model.
#include "frontends/gguf/Gguf.h"

#include "dialects/talc/TalcDialect.h"
#include "frontends/GraphBuilder.h"
#include "frontends/Json.h"
#include "frontends/ModelAttributes.h"
#include "frontends/ModelConfig.h"
#include "frontends/NamedFile.h"
#include "frontends/RandomWeights.h"
#include "frontends/families/Families.h"
#include "frontends/gguf/GgufConfig.h"
#include "frontends/gguf/GgufTokenizer.h"
#include "frontends/gguf/GgufWeights.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <fmt/format.h>

using namespace mlir;

namespace talc {

namespace settings = artifact::settings;
using nlohmann::json;

constexpr const char *architectureKey = "general.architecture";

static const GgufArchitecture *chooseArchitecture(const GgufModel &model, Diagnostics &diagnostics) {
  const json *name = model.find(architectureKey);
  const std::string architectureName = name && name->is_string() ? name->get<std::string>() : "";
  const GgufArchitecture *architecture = ggufArchitecture(architectureName, [&](const GgufMark &mark) {
    const json *value = model.find(fmt::format("{}.{}", architectureName, mark.key));
    return value && value->is_number() && *value >= mark.minimum;
  });
  if (!architecture)
    diagnostics.error(ImportError::ModelType,
                      fmt::format("{}: {}; talc knows {}", model.file(),
                                  name ? fmt::format("key '{}' is {}", architectureKey, jsonText(*name))
                                       : fmt::format("lacks the key '{}'", architectureKey),
                                  ggufArchitectures()));
  return architecture;
}

// A token id of the tokenizer's; -1 if the key is missing.
static int64_t readToken(const GgufModel &model, const std::string &key, Diagnostics &diagnostics) {
  const json *value = model.find(key);
  if (!value || *value == -1 || *value == UINT32_MAX)  // no token, as llama.cpp says it
    return -1;
  if (value->is_number_integer() && *value >= 0 && *value <= INT32_MAX)
    return value->get<int64_t>();
  diagnostics.error(ImportError::ConfigType,
                    fmt::format("{}: key '{}' is {}, expected a token id", model.file(), key, jsonText(*value)));
  return -1;
}

// The ends that keys name, then those that are known by their texts; `named`: how many of the former.
static std::vector<int64_t> readEnds(const GgufModel &model, bool generates, size_t &named, Diagnostics &diagnostics) {
  std::vector<int64_t> ends;
  auto add = [&](int64_t id) {
    if (id >= 0 && !llvm::is_contained(ends, id))
      ends.push_back(id);
  };
  for (const char *name : {"eos", "eot", "eom", "fim_pad", "fim_rep", "fim_sep"})
    add(readToken(model, fmt::format("tokenizer.ggml.{}_token_id", name), diagnostics));
  named = ends.size();
  if (generates)
    for (uint32_t id : frontend::rolesByText(model).ends)
      add(id);
  return ends;
}

// One line of those that no key names.
static void tellEnds(const GgufModel &model, llvm::ArrayRef<int64_t> ends, MLIRContext &context) {
  if (ends.empty())
    return;
  const json &tokens = *model.find("tokenizer.ggml.tokens");
  std::string list;
  for (int64_t id : ends)
    list += fmt::format("{}{} ({})", list.empty() ? "" : ", ",
                        quotedText(tokens[static_cast<size_t>(id)].get<std::string>()), id);
  emitRemark(UnknownLoc::get(&context)) << model.file() << ": texts also end with " << list
                                        << ", as these tokens' texts say; no key names them";
}

// Files of this kind say which tokens begin and end texts, nothing else.
static GenerationDefaults readGeneration(const GgufModel &model, const GgufArchitecture &architecture,
                                         const FamilyTokens &tokens, OwningOpRef<ModuleOp> &module,
                                         Diagnostics &diagnostics) {
  GenerationDefaults values = {artifact::neutralSettings<ReadForm>(), {}};
  values.beginToken = readToken(model, "tokenizer.ggml.bos_token_id", diagnostics);
  size_t named = 0;
  values.end = readEnds(model, hasOutput(*module, logitsOutput), named, diagnostics);
  tellEnds(model, llvm::ArrayRef(values.end).drop_front(named), *module->getContext());
  values.startToken = tokens.start;
  if (int64_t start = readToken(model, fmt::format("{}.{}", architecture.name, settings::startToken.key), diagnostics);
      tokens.start >= 0 && start >= 0)
    values.startToken = start;
  std::set<std::string> ignored;
  fitToModel(values, vocabularySize(*module), ignored);
  return values;
}

// How the hidden states of a text become its embedding, by llama.cpp's numbers. With rank, what is said of a text is
// its classes.
constexpr const char *poolings[] = {"none", "mean", "cls", "lasttoken", "rank"};
constexpr size_t rankPooling = 4;

static size_t readPooling(const GgufModel &model, const std::string &key, Diagnostics &diagnostics) {
  const json *value = model.find(key);
  if (!value)
    return 0;
  if (value->is_number_unsigned() && *value < std::size(poolings))
    return value->get<size_t>();
  diagnostics.error(ImportError::ConfigUnsupported, fmt::format("{}: key '{}' is {}, expected 0 (none), 1 (mean), 2 "
                                                                "(cls), 3 (last) or 4 (rank)",
                                                                model.file(), key, jsonText(*value)));
  return 0;
}

// Checks that the family has made what the file is for.
static void checkUse(const GgufModel &model, const GgufArchitecture &architecture, size_t pooling, ModuleOp module,
                     Diagnostics &diagnostics) {
  auto refuse = [&](const char *key, const std::string &value, const char *why) {
    diagnostics.error(ImportError::ConfigUnsupported,
                      fmt::format("{}: key '{}.{}' is {}, {}", model.file(), architecture.name, key, value, why));
  };
  bool hasClasses = hasOutput(module, classesOutput);
  if (pooling == rankPooling && !hasClasses)
    refuse("pooling_type", "4 (rank)",
           "but talc has classifiers of the architecture bert only, which need the tensor 'cls.output.weight'");
  else if (pooling > 0 && !hasClasses && !hasOutput(module, hiddenOutput))
    refuse("pooling_type", fmt::format("{} ({})", pooling, poolings[pooling]),
           "which makes embeddings of texts, but talc compiles this architecture only to generate text");
  const json *causal = model.find(fmt::format("{}.attention.causal", architecture.name));
  if (causal && *causal == false && hasCausalAttention(module))
    refuse("attention.causal", "false", "but talc compiles this architecture with causal attention only");
}

static OwningOpRef<ModuleOp> define(const Family &family, const ModelConfig &config, WeightSource &weights,
                                    const ImportOptions &options, bool embedsTexts, MLIRContext &context,
                                    Diagnostics &diagnostics) {
  GraphBuilder graph(context, weights, diagnostics, options.maxSequence);
  graph.useSinkTokens(options.sinks);
  if (embedsTexts)
    graph.useAsEmbedder();
  family.define(graph, config);
  return graph.finish();
}

static OwningOpRef<ModuleOp> importModel(const GgufModel &model, const GgufArchitecture &architecture,
                                         const ImportOptions &options, MLIRContext &context, Diagnostics &diagnostics) {
  GgufConfig source(model, architecture);
  source.readRopeFactors(diagnostics);
  source.check(diagnostics);
  const size_t pooling = readPooling(model, fmt::format("{}.pooling_type", architecture.name), diagnostics);
  if (diagnostics.failed())
    return nullptr;
  const Family &family =
      *llvm::find_if(families(), [&](const Family &known) { return known.modelType == architecture.modelType; });
  ModelConfig config(source, diagnostics);
  GgufWeights stored(model, architecture, source.headWidth(), diagnostics);
  RandomWeights random(options.randomSeed.value_or(0));
  WeightSource &weights = options.randomSeed ? static_cast<WeightSource &>(random) : stored;
  const bool embedsTexts = pooling != 0 && pooling != rankPooling;
  auto module = define(family, config, weights, options, embedsTexts, context, diagnostics);
  if (!module)
    return nullptr;
  checkUse(model, architecture, pooling, *module, diagnostics);
  if (!options.randomSeed)
    stored.reportUnused(options.allowsUnused);
  ModelAttributes attributes{model.directory().path(), model.name(), std::string(family.modelType),
                             readGeneration(model, architecture, family.tokens, module, diagnostics)};
  if (hasOutput(*module, hiddenOutput))
    attributes.pooling = StringAttr::get(&context, poolings[embedsTexts ? pooling : 0]);
  setModelAttributes(*module, attributes);
  keepWeightFiles(model.directory(), context, diagnostics);
  return module;
}

bool isGguf(const std::string &model) {
  std::string problem;
  OpenFile file = openNamedFile(model, problem);
  char begin[4] = {};
  return file && (llvm::sys::path::extension(model) == ".gguf" ||
                  (file.read(0, begin, sizeof(begin)) && llvm::StringRef(begin, sizeof(begin)) == "GGUF"));
}

bool isGgufFile(const std::string &link, const std::string &file) {
  const std::string model = GgufModel::followLink(link);
  llvm::StringRef folder = llvm::sys::path::parent_path(model);
  return llvm::any_of(GgufModel::partNames(llvm::sys::path::filename(model).str()), [&](const std::string &part) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, part);
    return llvm::sys::fs::equivalent(path, file);
  });
}

OwningOpRef<ModuleOp> importGguf(const std::string &path, const ImportOptions &options, MLIRContext &context,
                                 Diagnostics &diagnostics) {
  auto model = GgufModel::open(path, diagnostics);
  const GgufArchitecture *architecture = model ? chooseArchitecture(*model, diagnostics) : nullptr;
  auto module = architecture ? importModel(*model, *architecture, options, context, diagnostics) : nullptr;
  return diagnostics.failed() ? nullptr : std::move(module);
}

}  // namespace talc
