// SPDX-License-Identifier: Apache-2.0
// The table of methods, and where their configuration stands.
#include "frontends/huggingface/quantized/Quantization.h"

#include "frontends/Json.h"
#include "frontends/ModelConfig.h"
#include "frontends/ModelDirectory.h"
#include "frontends/huggingface/JsonConfig.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

namespace talc {

using nlohmann::json;

namespace {

struct Method {
  std::string_view name;
  QuantizationReader read;
};

constexpr Method methods[] = {{"compressed-tensors", readCompressedTensors},
                              {"gptq", readGptq},
                              {"awq", readAwq},
                              {"fp8", readFp8},
                              {"bitsandbytes", readBitsandbytes},
                              {"modelopt", readModelopt},
                              {"modelopt_fp4", readModelopt},
                              {"modelopt_mixed", readModelopt},
                              {"mxfp4", readMxfp4}};

// Files of older checkpoints, and the method that they mean if they do not say.
struct OwnFile {
  const char *file, *method;
};

constexpr OwnFile ownFiles[] = {
    {"quantize_config.json", "gptq"}, {"quant_config.json", "awq"}, {"hf_quant_config.json", "modelopt"}};

constexpr const char *keys[] = {"quantization_config", "compression_config"};

}  // namespace

static QuantizationPtr readMethod(const json &object, const json &model, const std::string &place,
                                  const std::string &fallback, Diagnostics &diagnostics) {
  JsonConfig source(object, place);
  ModelConfig config(source, diagnostics);
  std::string name = llvm::StringRef(config.text("quant_method", fallback)).lower();
  if (config.failed())
    return nullptr;
  auto it = llvm::find_if(methods, [&](const Method &method) { return method.name == name; });
  if (it != std::end(methods))
    return it->read({object, config, model}, diagnostics);
  auto names = llvm::map_range(methods, [](const Method &method) { return method.name; });
  config.unsupported("quant_method",
                     fmt::format("is {}; talc reads {}, and GGUF files", quotedText(name), fmt::join(names, ", ")));
  return nullptr;
}

QuantizationPtr readQuantization(const ModelDirectory &directory, const json &config, Diagnostics &diagnostics) {
  constexpr uint64_t limit = 1 << 24;
  constexpr const char *configFile = "config.json";
  for (const char *key : keys) {
    auto it = config.find(key);
    if (it == config.end() || it->is_null())
      continue;
    if (it->is_object())
      return readMethod(*it, config, fmt::format("{}: {}", configFile, key),
                        it->contains("quant_algo") ? "modelopt" : "compressed-tensors", diagnostics);
    diagnostics.error(ImportError::ConfigType,
                      fmt::format("{}: key '{}' is {}, expected an object", configFile, key, jsonText(*it)));
    return nullptr;
  }
  for (auto [file, method] : ownFiles) {
    if (!directory.contains(file))
      continue;
    auto text = directory.readText(file, limit, diagnostics);
    auto object = text ? parseJsonObject(*text, file, ImportError::ConfigFile, diagnostics) : std::nullopt;
    return object ? readMethod(*object, config, file, method, diagnostics) : nullptr;
  }
  return nullptr;
}

}  // namespace talc
