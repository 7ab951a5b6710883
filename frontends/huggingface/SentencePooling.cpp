// SPDX-License-Identifier: Apache-2.0
// Reads modules.json, and the config.json of the module that pools.
//
//   [{"type": "sentence_transformers.models.Transformer", "path": ""},
//    {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
//    {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}]
#include "frontends/huggingface/HuggingFace.h"

#include "frontends/Json.h"
#include "frontends/ModelDirectory.h"

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

namespace talc {

using nlohmann::json;

constexpr const char *modulesFile = "modules.json";
constexpr uint64_t sizeLimit = 1 << 20;

// The one mode that is on.
static std::string poolingMode(const json &config, const std::string &place, Diagnostics &diagnostics) {
  const std::string begin = "pooling_mode_";
  std::string modes;
  for (auto &[key, value] : config.items())
    if (llvm::StringRef(key).starts_with(begin) && value == true)
      modes += (modes.empty() ? "" : ", ") + key.substr(begin.size());
  if (modes == "cls_token")
    return "cls";
  if (modes == "mean_tokens")
    return "mean";
  diagnostics.warning(fmt::format("{}/config.json: texts are pooled with {}; talc knows cls_token and mean_tokens, and "
                                  "leaves one hidden state per token",
                                  place, quotedText(modes)));
  return "none";
}

static std::string readMode(const ModelDirectory &directory, const std::string &place, Diagnostics &diagnostics) {
  auto folder = directory.folder(place, diagnostics);
  auto text = folder ? folder->readText("config.json", sizeLimit, diagnostics) : std::nullopt;
  auto config =
      text ? parseJsonObject(*text, place + "/config.json", ImportError::ConfigFile, diagnostics) : std::nullopt;
  return config ? poolingMode(*config, place, diagnostics) : "none";
}

// The value of a string in an object, or nothing.
static std::string readText(const json &object, const char *key) {
  auto value = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && value != object.end() && value->is_string() ? value->get<std::string>() : std::string();
}

std::string readPooling(const ModelDirectory &directory, Diagnostics &diagnostics) {
  std::string result = "mean";
  if (!directory.contains(modulesFile))
    return result;
  auto text = directory.readText(modulesFile, sizeLimit, diagnostics);
  auto modules = text ? parseJson(*text, modulesFile, ImportError::ConfigFile, diagnostics) : std::nullopt;
  if (modules && !modules->is_array())
    diagnostics.error(ImportError::ConfigFile,
                      fmt::format("{}: holds {}, expected a JSON array", modulesFile, modules->type_name()));
  for (const json &module : modules && modules->is_array() ? *modules : json::array()) {
    const std::string type = readText(module, "type");
    llvm::StringRef kind = llvm::StringRef(type).rsplit('.').second;
    if (kind == "Pooling")
      result = readMode(directory, readText(module, "path"), diagnostics);
    else if (kind != "Transformer")
      diagnostics.warning(
          fmt::format("{}: after pooling comes {}, which talc leaves to the caller", modulesFile, quotedText(type)));
  }
  return result;
}

}  // namespace talc
