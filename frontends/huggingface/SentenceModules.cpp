// SPDX-License-Identifier: Apache-2.0
// Reads modules.json, and the configurations and weights of its modules.
//
//   [{"type": "sentence_transformers.models.Transformer", "path": ""},
//    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
//    {"type": "sentence_transformers.models.Dense", "path": "2_Dense"},
//    {"type": "sentence_transformers.models.Normalize", "path": "3_Normalize"}]
#include "frontends/huggingface/SentenceModel.h"

#include "frontends/Json.h"
#include "frontends/ModelDirectory.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

namespace talc {

using nlohmann::json;

constexpr const char *modulesFile = "modules.json";
constexpr uint64_t sizeLimit = 1 << 20;
constexpr int64_t maxWidth = 1 << 20;

// Modes of pooling, in the order in which those given as flags are joined.
struct PoolingMode {
  const char *name, *flag;
};
constexpr PoolingMode poolingModes[] = {
    {"cls", "pooling_mode_cls_token"},
    {"max", "pooling_mode_max_tokens"},
    {"mean", "pooling_mode_mean_tokens"},
    {"mean_sqrt_len_tokens", "pooling_mode_mean_sqrt_len_tokens"},
    {"weightedmean", "pooling_mode_weightedmean_tokens"},
    {"lasttoken", "pooling_mode_lasttoken"},
};

namespace {

// Reads one module after the other.
class ModuleReader {
public:
  ModuleReader(const ModelDirectory &directory, const WeightOpener &open, Diagnostics &diagnostics)
      : directory(directory), open(open), diagnostics(diagnostics) {}

  SentenceModel model;

  void read(const json &module);

private:
  // The configuration of a module, whose keys are looked up with the right type.
  struct Config {
    std::string file;
    json object;
  };

  void readTransformer(const std::string &path);
  void readPooling(const std::string &path);
  void readDense(const std::string &path);
  void readNorm(const std::string &path);
  void readNormalize(const std::string &path);
  void findWeight(WeightSource &weights, const std::string &path, const char *name, const std::vector<int64_t> &shape,
                  std::optional<WeightOrigin> &weight) const;
  void readDenseWeights(const std::string &path, bool hasBias, SentenceLayer &layer);
  Config readConfig(const std::string &path, bool isNeeded);
  void readFlagModes(const Config &config);
  void readNamedModes(const Config &config);
  bool flag(const Config &config, const char *key, bool fallback);
  std::string text(const Config &config, const char *key, const std::string &fallback);
  int64_t width(const Config &config, const char *key);
  void requireSentence(const Config &config);
  void requireWidth(const Config &config, const char *key, int64_t size);

  void unsupported(const std::string &text) { diagnostics.error(ImportError::ConfigUnsupported, text); }

  const ModelDirectory &directory;
  const WeightOpener &open;
  Diagnostics &diagnostics;
  int64_t features = 0;     // after the last module; 0 before pooling
  std::string modulesPath;  // of the folders of modules: absolute, or empty if the model's own files lie beside them
};

}  // namespace

//===--- configurations -----------------------------------------------------------------------------------------===//

ModuleReader::Config ModuleReader::readConfig(const std::string &path, bool isNeeded) {
  Config config = {path + "/config.json", json::object()};
  if (!isNeeded && (!directory.contains(path) || path.empty()))
    return config;
  auto folder = directory.folder(path, diagnostics);
  if (!folder || (!isNeeded && !folder->contains("config.json")))
    return config;
  auto text = folder->readText("config.json", sizeLimit, diagnostics);
  auto object = text ? parseJsonObject(*text, config.file, ImportError::ConfigFile, diagnostics) : std::nullopt;
  if (object)
    config.object = std::move(*object);
  return config;
}

bool ModuleReader::flag(const Config &config, const char *key, bool fallback) {
  auto value = config.object.find(key);
  if (value == config.object.end() || value->is_null())
    return fallback;
  if (!value->is_boolean())
    diagnostics.error(ImportError::ConfigType,
                      fmt::format("{}: key '{}' is {}, expected true or false", config.file, key, jsonText(*value)));
  return value->is_boolean() && value->get<bool>();
}

std::string ModuleReader::text(const Config &config, const char *key, const std::string &fallback) {
  auto value = config.object.find(key);
  if (value == config.object.end() || value->is_null())
    return fallback;
  if (!value->is_string())
    diagnostics.error(ImportError::ConfigType,
                      fmt::format("{}: key '{}' is {}, expected a string", config.file, key, jsonText(*value)));
  return value->is_string() ? value->get<std::string>() : fallback;
}

int64_t ModuleReader::width(const Config &config, const char *key) {
  auto value = config.object.find(key);
  bool isNumber = value != config.object.end() && value->is_number_integer();
  int64_t number = isNumber ? value->get<int64_t>() : 0;
  if (number >= 1 && number <= maxWidth)
    return number;
  diagnostics.error(ImportError::ConfigValue,
                    fmt::format("{}: key '{}' is {}, expected a number from 1 to {}", config.file, key,
                                value == config.object.end() ? "missing" : jsonText(*value), maxWidth));
  return 1;
}

// A module after pooling reads and writes the text's vector.
void ModuleReader::requireSentence(const Config &config) {
  if (model.poolings.empty())
    unsupported(
        fmt::format("{}: changes the hidden states of tokens before pooling, which talc does not do", config.file));
  for (const char *key : {"module_input_name", "module_output_name"})
    if (std::string name = text(config, key, "sentence_embedding"); name != "sentence_embedding")
      unsupported(fmt::format("{}: key '{}' is {}; talc knows sentence_embedding", config.file, key, quotedText(name)));
}

void ModuleReader::requireWidth(const Config &config, const char *key, int64_t size) {
  if (features > 0 && size != features && !diagnostics.failed())
    diagnostics.error(
        ImportError::ConfigValue,
        fmt::format("{}: key '{}' is {}, but the module before yields {} features", config.file, key, size, features));
}

//===--- pooling ------------------------------------------------------------------------------------------------===//

// Releases before 5.4.
void ModuleReader::readFlagModes(const Config &config) {
  for (const PoolingMode &mode : poolingModes)
    if (flag(config, mode.flag, false))
      model.poolings.emplace_back(mode.name);
  auto isKnown = [](const std::string &key) {
    return llvm::any_of(poolingModes, [&](const PoolingMode &mode) { return key == mode.flag; });
  };
  for (auto &[key, value] : config.object.items())
    if (llvm::StringRef(key).starts_with("pooling_mode_") && value == true && !isKnown(key))
      unsupported(fmt::format("{}: key {} is true; talc knows cls_token, max_tokens, mean_tokens, "
                              "mean_sqrt_len_tokens, weightedmean_tokens and lasttoken",
                              config.file, quotedText(key)));
  if (model.poolings.empty())
    model.poolings.emplace_back("mean");
}

// Releases from 5.4 on: a name, or a list of names.
void ModuleReader::readNamedModes(const Config &config) {
  const json &value = config.object.at("pooling_mode");
  const json names = value.is_array() ? value : json::array({value});
  for (const json &name : names) {
    bool isKnown = name.is_string() && llvm::any_of(poolingModes, [&](const PoolingMode &mode) {
                     return name.get_ref<const std::string &>() == mode.name;
                   });
    if (!isKnown)
      return unsupported(fmt::format("{}: key 'pooling_mode' is {}; talc knows cls, max, mean, mean_sqrt_len_tokens, "
                                     "weightedmean and lasttoken",
                                     config.file, jsonText(value)));
    model.poolings.push_back(name.get<std::string>());
  }
  constexpr size_t maxModes = 8;
  if (names.empty() || names.size() > maxModes)
    unsupported(
        fmt::format("{}: key 'pooling_mode' lists {} modes, expected 1 to {}", config.file, names.size(), maxModes));
}

void ModuleReader::readPooling(const std::string &path) {
  if (!model.poolings.empty())
    return unsupported(fmt::format("{}: pools twice", modulesFile));
  Config config = readConfig(path, /*isNeeded=*/true);
  if (config.object.contains("pooling_mode"))
    readNamedModes(config);
  else
    readFlagModes(config);
  model.excludesPrompt = !flag(config, "include_prompt", true);
  const char *key = config.object.contains("embedding_dimension") ? "embedding_dimension" : "word_embedding_dimension";
  if (!diagnostics.failed())
    model.width = width(config, key);
  features = model.width * static_cast<int64_t>(model.poolings.size());
}

//===--- layers -------------------------------------------------------------------------------------------------===//

// torch.nn.modules.activation.Tanh, torch.nn.Tanh, ...; nothing: none that talc knows.
static std::optional<std::string> activationName(llvm::StringRef path) {
  static constexpr std::pair<llvm::StringLiteral, const char *> names[] = {
      {"Identity", "none"}, {"Tanh", "tanh"}, {"ReLU", "relu"},
      {"GELU", "gelu"},     {"SiLU", "silu"}, {"Sigmoid", "sigmoid"}};
  if (path.starts_with("torch.nn."))
    for (auto [name, activation] : names)
      if (path.rsplit('.').second == name)
        return activation;
  return std::nullopt;
}

void ModuleReader::readDense(const std::string &path) {
  Config config = readConfig(path, /*isNeeded=*/true);
  requireSentence(config);
  SentenceLayer layer = {"dense", width(config, "in_features"), width(config, "out_features")};
  requireWidth(config, "in_features", layer.inputs);
  const std::string activation = text(config, "activation_function", "torch.nn.modules.activation.Tanh");
  if (auto name = activationName(activation))
    layer.activation = *name;
  else
    unsupported(fmt::format("{}: key 'activation_function' is {}; talc knows Identity, Tanh, ReLU, GELU, SiLU and "
                            "Sigmoid of torch.nn",
                            config.file, quotedText(activation)));
  if (flag(config, "use_residual", false))
    layer.residual = layer.inputs == layer.outputs ? "input" : "projection";
  bool hasBias = flag(config, "bias", true);
  if (!diagnostics.failed())
    readDenseWeights(path, hasBias, layer);
  features = layer.outputs;
  model.layers.push_back(std::move(layer));
}

// Files are named from the directory of the model's weights on.
void ModuleReader::findWeight(WeightSource &weights, const std::string &path, const char *name,
                              const std::vector<int64_t> &shape, std::optional<WeightOrigin> &weight) const {
  auto origin = weights.find(name, shape, "sizes in " + path + "/config.json");
  if (!origin)
    return;
  if (auto *stored = std::get_if<StoredWeight>(&*origin))
    stored->file = modulesPath + path + "/" + stored->file;
  weight.emplace(*origin);
}

void ModuleReader::readDenseWeights(const std::string &path, bool hasBias, SentenceLayer &layer) {
  auto folder = directory.folder(path, diagnostics);
  auto weights = folder ? open(*folder) : nullptr;
  if (!weights)
    return;
  findWeight(*weights, path, "linear.weight", {layer.outputs, layer.inputs}, layer.weight);
  if (hasBias)
    findWeight(*weights, path, "linear.bias", {layer.outputs}, layer.bias);
  if (layer.residual == "projection")
    findWeight(*weights, path, "residual.weight", {layer.outputs, layer.inputs}, layer.projection);
}

void ModuleReader::readNorm(const std::string &path) {
  Config config = readConfig(path, /*isNeeded=*/true);
  requireSentence(config);
  int64_t size = width(config, "dimension");
  requireWidth(config, "dimension", size);
  SentenceLayer layer = {"norm", size, size};
  auto folder = diagnostics.failed() ? std::nullopt : directory.folder(path, diagnostics);
  auto weights = folder ? open(*folder) : nullptr;
  if (weights) {
    findWeight(*weights, path, "norm.weight", {size}, layer.weight);
    findWeight(*weights, path, "norm.bias", {size}, layer.bias);
  }
  model.layers.push_back(std::move(layer));
}

void ModuleReader::readNormalize(const std::string &path) {
  Config config = readConfig(path, /*isNeeded=*/false);
  requireSentence(config);
  model.layers.push_back({"normalize", features, features});
}

//===--- modules.json -------------------------------------------------------------------------------------------===//

// Its files are those of the model itself.
void ModuleReader::readTransformer(const std::string &path) {
  if (path.empty())
    return;
  modulesPath = directory.path() + "/";
  if (path != transformerFolder(directory))
    unsupported(
        fmt::format("{}: the Transformer lies in {}; talc knows one Transformer, in the directory of {} or in a "
                    "folder of it",
                    modulesFile, quotedText(path), modulesFile));
}

static std::string member(const json &module, const char *key) {
  bool has = module.is_object() && module.contains(key) && module.at(key).is_string();
  return has ? module.at(key).get<std::string>() : std::string();
}

// "sentence_transformers.models.Dense", and since 5.4 "sentence_transformers.base.modules.dense.Dense". Empty: the type
// is not of that package.
static std::string moduleKind(const std::string &type) {
  llvm::StringRef kind = type;
  return kind.consume_front("sentence_transformers.") ? kind.rsplit('.').second.str() : std::string();
}

std::string transformerFolder(const ModelDirectory &directory) {
  Diagnostics ignored;  // the reader of modules tells what is wrong
  auto text = directory.contains(modulesFile) ? directory.readText(modulesFile, sizeLimit, ignored) : std::nullopt;
  auto modules = text ? parseJson(*text, modulesFile, ImportError::ConfigFile, ignored) : std::nullopt;
  for (const json &module : modules && modules->is_array() ? *modules : json::array())
    if (moduleKind(member(module, "type")) == "Transformer") {
      std::string path = member(module, "path");
      return ModelDirectory::isPlainName(path) ? path : std::string();
    }
  return {};
}

void ModuleReader::read(const json &module) {
  const std::string type = member(module, "type"), path = member(module, "path"), kind = moduleKind(type);
  if (kind == "Transformer")
    return readTransformer(path);
  if (kind == "Pooling")
    return readPooling(path);
  if (kind == "Dense")
    return readDense(path);
  if (kind == "LayerNorm")
    return readNorm(path);
  if (kind == "Normalize")
    return readNormalize(path);
  if (kind != "Dropout")  // changes nothing but training
    unsupported(fmt::format("{}: has the module {}; talc knows Transformer, Pooling, Dense, LayerNorm, Normalize and "
                            "Dropout of sentence_transformers",
                            modulesFile, quotedText(type)));
}

SentenceModel readSentenceModules(const ModelDirectory &directory, const WeightOpener &open, Diagnostics &diagnostics) {
  ModuleReader reader(directory, open, diagnostics);
  if (!directory.contains(modulesFile)) {
    reader.model.poolings = {"mean"};
    return reader.model;
  }
  reader.model.hasModules = true;
  auto text = directory.readText(modulesFile, sizeLimit, diagnostics);
  auto modules = text ? parseJson(*text, modulesFile, ImportError::ConfigFile, diagnostics) : std::nullopt;
  if (modules && !modules->is_array())
    diagnostics.error(ImportError::ConfigFile,
                      fmt::format("{}: holds {}, expected a JSON array", modulesFile, modules->type_name()));
  constexpr size_t maxModules = 64;
  if (modules && modules->size() > maxModules)
    diagnostics.error(ImportError::ConfigValue, fmt::format("{}: lists {} modules, expected at most {}", modulesFile,
                                                            modules->size(), maxModules));
  for (const json &module : modules && modules->is_array() ? *modules : json::array())
    if (!diagnostics.failed())
      reader.read(module);
  if (reader.model.poolings.empty())
    reader.model.poolings = {"none"};
  return reader.model;
}

}  // namespace talc
