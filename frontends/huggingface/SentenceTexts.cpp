// SPDX-License-Identifier: Apache-2.0
// Reads what stands before texts, and how long they are, from config_sentence_transformers.json,
// sentence_bert_config.json and tokenizer_config.json.
#include "frontends/huggingface/SentenceModel.h"

#include "frontends/Json.h"
#include "frontends/ModelDirectory.h"

#include "llvm/ADT/STLExtras.h"

#include <fmt/format.h>

namespace talc {

using nlohmann::json;

constexpr const char *promptsFile = "config_sentence_transformers.json", *tokenizerFile = "tokenizer_config.json";
// Older releases named the file after the kind of model.
constexpr const char *lengthFiles[] = {"sentence_bert_config.json",       "sentence_roberta_config.json",
                                       "sentence_distilbert_config.json", "sentence_camembert_config.json",
                                       "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
                                       "sentence_xlnet_config.json"};
constexpr uint64_t sizeLimit = 1 << 24;

// An empty object if there is no such file.
static json readObject(const ModelDirectory &directory, const char *file, Diagnostics &diagnostics) {
  auto text = directory.contains(file) ? directory.readText(file, sizeLimit, diagnostics) : std::nullopt;
  auto object = text ? parseJsonObject(*text, file, ImportError::ConfigFile, diagnostics) : std::nullopt;
  return object ? *object : json::object();
}

// A number of tokens; 0: the key is absent or null. model_max_length may be 1e30, which stands for no limit.
static int64_t readLength(const json &object, const char *file, const char *key, Diagnostics &diagnostics) {
  constexpr double noLimit = 1 << 30;
  auto value = object.find(key);
  if (value == object.end() || value->is_null())
    return 0;
  bool isCount = value->is_number() && value->get<double>() >= 1;
  if (!isCount)
    diagnostics.error(ImportError::ConfigValue,
                      fmt::format("{}: key '{}' is {}, expected a number of tokens", file, key, jsonText(*value)));
  if (!isCount || value->get<double>() >= noLimit)
    return 0;
  return static_cast<int64_t>(value->get<double>());
}

// The shorter of what the files and the model say.
static void readLengths(const ModelDirectory &directory, int64_t positions, SentenceModel &model,
                        Diagnostics &diagnostics) {
  json tokenizer = readObject(directory, tokenizerFile, diagnostics);
  int64_t limit = 0;
  for (const char *file : lengthFiles)
    if (limit == 0)
      limit = readLength(readObject(directory, file, diagnostics), file, "max_seq_length", diagnostics);
  if (limit == 0)
    limit = readLength(tokenizer, tokenizerFile, "model_max_length", diagnostics);
  model.maxTokens = limit == 0 ? positions : std::min(limit, positions);
  model.cutsBegin = tokenizer.contains("truncation_side") && tokenizer.at("truncation_side") == "left";
}

static void readPrompts(const json &config, SentenceModel &model, Diagnostics &diagnostics) {
  auto prompts = config.find("prompts");
  if (prompts != config.end() && prompts->is_object())
    for (auto &[name, prompt] : prompts->items()) {
      const std::string *text = prompt.get_ptr<const std::string *>();
      if (!text || text->find('\0') != std::string::npos || name.find('\0') != std::string::npos)
        diagnostics.error(ImportError::ConfigValue, fmt::format("{}: prompt {} is {}, expected a text without NUL",
                                                                promptsFile, quotedText(name), jsonText(prompt)));
      else
        model.prompts.emplace_back(name, *text);
    }
  constexpr size_t maxPrompts = 1024;
  if (model.prompts.size() > maxPrompts)
    diagnostics.error(ImportError::ConfigValue, fmt::format("{}: has {} prompts, expected at most {}", promptsFile,
                                                            model.prompts.size(), maxPrompts));
  auto chosen = config.find("default_prompt_name");
  if (chosen == config.end() || chosen->is_null())
    return;
  for (auto [i, prompt] : llvm::enumerate(model.prompts))
    if (*chosen == prompt.first)
      model.defaultPrompt = static_cast<int64_t>(i);
  if (model.defaultPrompt < 0)
    diagnostics.error(ImportError::ConfigValue,
                      fmt::format("{}: key 'default_prompt_name' is {}, which is not a name among 'prompts'",
                                  promptsFile, jsonText(*chosen)));
}

void readSentenceTexts(const ModelDirectory &directory, const ModelDirectory &transformer, int64_t positions,
                       bool isCrossEncoder, SentenceModel &model, Diagnostics &diagnostics) {
  json config = readObject(directory, promptsFile, diagnostics);
  readPrompts(config, model, diagnostics);
  bool isSentenceModel = isCrossEncoder || model.hasModules || !config.empty() ||
                         llvm::any_of(lengthFiles, [&](const char *file) { return transformer.contains(file); });
  if (isSentenceModel)
    readLengths(transformer, positions, model, diagnostics);
}

}  // namespace talc
