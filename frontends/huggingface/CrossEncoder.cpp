// SPDX-License-Identifier: Apache-2.0
// Reads the activation that sentence-transformers applies to the logits of a CrossEncoder. Releases store it in
// config_sentence_transformers.json (5.4), config.json under "sentence_transformers" (4.0), or before that under
// "sbert_ce_default_activation_function".
#include "frontends/huggingface/SentenceModel.h"

#include "frontends/Json.h"
#include "frontends/ModelDirectory.h"

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

namespace talc {

using artifact::ClassScores;
using nlohmann::json;

static const json &member(const json &object, const char *key) {
  static const json nothing;
  return object.is_object() && object.contains(key) ? object.at(key) : nothing;
}

// config_sentence_transformers.json, or nothing.
static json readOwnConfig(const ModelDirectory &directory, Diagnostics &diagnostics) {
  constexpr const char *file = "config_sentence_transformers.json";
  constexpr uint64_t limit = 1 << 24;
  auto text = directory.contains(file) ? directory.readText(file, limit, diagnostics) : std::nullopt;
  auto object = text ? parseJsonObject(*text, file, ImportError::ConfigFile, diagnostics) : std::nullopt;
  return object ? *object : json();
}

static ClassScores readScores(const std::string &place, const json &activation, Diagnostics &diagnostics) {
  const std::string *text = activation.get_ptr<const std::string *>();
  llvm::StringRef path = text ? llvm::StringRef(*text) : llvm::StringRef(), name = path.rsplit('.').second;
  if (path.starts_with("torch.nn.") && name == "Identity")
    return ClassScores::Values;
  if (path.starts_with("torch.nn.") && name == "Sigmoid")
    return ClassScores::Sigmoid;
  diagnostics.error(ImportError::ConfigUnsupported,
                    fmt::format("{} is {}; talc knows Identity and Sigmoid of torch.nn", place, jsonText(activation)));
  return ClassScores::Values;
}

std::optional<ClassScores> readCrossEncoderScores(const ModelDirectory &directory, const json &modelConfig,
                                                  Diagnostics &diagnostics) {
  const json ownConfig = readOwnConfig(directory, diagnostics);
  const json &nested = member(modelConfig, "sentence_transformers");
  const std::pair<const char *, const json &> places[] = {
      {"config_sentence_transformers.json: key 'activation_fn'", member(ownConfig, "activation_fn")},
      {"config.json: key 'sentence_transformers.activation_fn'", member(nested, "activation_fn")},
      {"config.json: key 'sbert_ce_default_activation_function'",
       member(modelConfig, "sbert_ce_default_activation_function")},
  };
  for (auto [place, activation] : places)
    if (!activation.is_null())
      return readScores(place, activation, diagnostics);
  bool isCrossEncoder = nested.is_object() || member(ownConfig, "model_type") == "CrossEncoder" ||
                        modelConfig.contains("sbert_ce_default_activation_function");
  const json &names = member(modelConfig, "id2label"), &count = member(modelConfig, "num_labels");
  bool hasOneClass = names.is_object() ? names.size() == 1 : count == 1;
  if (!isCrossEncoder)
    return std::nullopt;
  return hasOneClass ? ClassScores::Sigmoid : ClassScores::Values;
}

}  // namespace talc
