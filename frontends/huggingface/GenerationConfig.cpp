// SPDX-License-Identifier: Apache-2.0
// Reads generation defaults.
#include "frontends/huggingface/GenerationConfig.h"

#include "frontends/huggingface/Json.h"
#include "frontends/huggingface/ModelConfig.h"
#include "frontends/huggingface/ModelDirectory.h"

#include <fmt/format.h>

#include <algorithm>

namespace talc {

// config.json may say with null that there is no such token.
static void readTokens(const ModelConfig &config, GenerationConfig &values) {
  std::vector<int64_t> begin = config.tokens("bos_token_id", {values.begin});
  values.begin = begin.empty() ? -1 : begin.front();
  values.end = config.tokens("eos_token_id", values.end);
}

// Null means off.
static void readSampling(const ModelConfig &config, GenerationConfig &values) {
  values.sample = !config.isNull("do_sample") && config.flag("do_sample", values.sample);
  auto number = [&](const char *key, double &value, double off, double most) {
    value = config.isNull(key) ? off : config.number(key, value, 0, most);
  };
  number("temperature", values.temperature, 1, 1e6);
  number("top_p", values.topP, 1, 1);
  number("min_p", values.minP, 0, 1);
  number("repetition_penalty", values.repetitionPenalty, 1, 1e6);
  values.topK = config.integerOrNull("top_k", values.topK, {0, INT32_MAX}).value_or(0);
}

// Token ids that the model has no logit for.
static void dropForeignTokens(GenerationConfig &values, int64_t vocabulary) {
  auto foreign = [&](int64_t token) { return token >= vocabulary; };
  values.end.erase(std::remove_if(values.end.begin(), values.end.end(), foreign), values.end.end());
  if (foreign(values.begin))
    values.begin = -1;
}

GenerationConfig readGenerationConfig(const ModelDirectory &directory, const nlohmann::json &modelConfig,
                                      GenerationConfig defaults, int64_t vocabulary, Diagnostics &diagnostics) {
  const char *file = "generation_config.json";
  GenerationConfig values = std::move(defaults);
  ModelConfig model(modelConfig, "config.json", diagnostics);
  readTokens(model, values);
  readSampling(model, values);
  if (directory.contains(file)) {
    constexpr uint64_t limit = 1 << 24;
    auto text = directory.readText(file, limit, diagnostics);
    auto object = text ? parseJsonObject(*text, file, ImportError::GenerationConfig, diagnostics) : std::nullopt;
    if (object) {
      // Here null means that config.json is to be asked.
      for (const char *key : {"bos_token_id", "eos_token_id"})
        if (auto token = object->find(key); token != object->end() && token->is_null())
          object->erase(token);
      ModelConfig generation(*object, file, diagnostics);
      readTokens(generation, values);
      readSampling(generation, values);
    }
  }
  if (values.repetitionPenalty == 0)
    diagnostics.error(ImportError::GenerationConfig, fmt::format("{}: key 'repetition_penalty' is 0", file));
  dropForeignTokens(values, vocabulary);
  return values;
}

}  // namespace talc
