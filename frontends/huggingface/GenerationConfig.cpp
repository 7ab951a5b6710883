// SPDX-License-Identifier: Apache-2.0
// Reads generation defaults.
#include "frontends/huggingface/GenerationConfig.h"

#include "frontends/Json.h"
#include "frontends/ModelConfig.h"
#include "frontends/ModelDirectory.h"
#include "runtime/artifact/ArtifactFormat.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace talc {

constexpr const char *generationFile = "generation_config.json";

// Null means that there is no such token.
static int64_t firstToken(const ModelConfig &config, const char *key, int64_t fallback) {
  std::vector<int64_t> tokens = config.tokens(key, {fallback});
  return tokens.empty() ? -1 : tokens.front();
}

static void readTokens(const ModelConfig &config, GenerationConfig &values) {
  values.begin = firstToken(config, "bos_token_id", values.begin);
  values.end = config.tokens("eos_token_id", values.end);
  if (values.start >= 0 && config.has("decoder_start_token_id"))
    values.start = firstToken(config, "decoder_start_token_id", values.start);
}

static void readForced(const ModelConfig &config, GenerationConfig &values, std::set<std::string> &ignored) {
  values.forcedBegin = firstToken(config, "forced_bos_token_id", values.forcedBegin);
  values.forcedEnd = firstToken(config, "forced_eos_token_id", values.forcedEnd);
  if (config.tokens("forced_eos_token_id", {}).size() > 1)
    ignored.insert("forced_eos_token_id (all but the first)");
}

// Null means off.
static void readSampling(const ModelConfig &config, GenerationConfig &values) {
  values.sample = !config.isNull("do_sample") && config.flag("do_sample", values.sample);
  auto number = [&](const char *key, double &value, double off, double least, double most) {
    value = config.isNull(key) ? off : config.number(key, value, least, most);
  };
  number("temperature", values.temperature, 1, 0, 1e6);
  number("top_p", values.topP, 1, 0, 1);
  values.topP = std::max(values.topP, 1e-6);  // 0 keeps the likeliest token
  number("min_p", values.minP, 0, 0, 1);
  number("repetition_penalty", values.repetitionPenalty, 1, 0, 1e6);
  number("length_penalty", values.lengthPenalty, 1, -1e6, 1e6);
  values.topK = config.integerOrNull("top_k", values.topK, {0, INT32_MAX}).value_or(0);
}

// A number of new tokens takes the place of a length, which counts the beginning of the text as well.
static void readLength(const ModelConfig &config, const char *lengthKey, int64_t &length, const char *newTokensKey,
                       int64_t &newTokens) {
  auto take = [&](const char *key, int64_t &value, int64_t &other) {
    if (!config.has(key))
      return;
    value = config.integer(key, 0, {0, INT32_MAX});
    other = 0;
  };
  take(lengthKey, length, newTokens);
  take(newTokensKey, newTokens, length);
}

// generate() cannot tell the default of its class from the same length in a file and takes it for new tokens.
static void readLengths(const ModelConfig &config, GenerationConfig &values) {
  constexpr int64_t usual = 20;
  readLength(config, "max_length", values.maxLength, "max_new_tokens", values.newTokens);
  readLength(config, "min_length", values.minLength, "min_new_tokens", values.minNewTokens);
  if (values.maxLength == usual) {
    values.newTokens = usual;
    values.maxLength = 0;
  }
}

static void readBeams(const ModelConfig &config, GenerationConfig &values) {
  constexpr const char *early = "early_stopping";
  values.beams = config.integerOrNull("num_beams", values.beams, {1, artifact::maxBeams}).value_or(1);
  values.noRepeatNgram = config.integerOrNull("no_repeat_ngram_size", values.noRepeatNgram, {0, INT32_MAX}).value_or(0);
  values.renormalize = !config.isNull("renormalize_logits") && config.flag("renormalize_logits", values.renormalize);
  if (config.isText(early) && config.text(early, "") == "never")
    values.earlyStopping = "never";
  else if (config.has(early))
    values.earlyStopping = config.flag(early, false) ? "yes" : "no";
}

// The bad words of several tokens.
static void addForbidden(const std::vector<int64_t> &word, GenerationConfig &values, std::set<std::string> &ignored) {
  if (word.empty() || values.forbidden.size() + 1 + word.size() > artifact::maxForbidden) {
    ignored.insert("bad_words_ids");
    return;
  }
  values.forbidden.push_back(static_cast<int64_t>(word.size()));
  values.forbidden.insert(values.forbidden.end(), word.begin(), word.end());
}

// bad_words_ids may also name the end, which generate() ignores, and tokens that never occur.
static void readSuppressed(const ModelConfig &config, int64_t vocabulary, GenerationConfig &values,
                           std::set<std::string> &ignored) {
  auto add = [&](int64_t token) {
    if (std::count(values.suppress.begin(), values.suppress.end(), token) == 0)
      values.suppress.push_back(token);
  };
  auto foreign = [&](int64_t token) { return token >= vocabulary; };
  if (config.has("bad_words_ids"))
    values.forbidden.clear();
  for (const std::vector<int64_t> &word : config.tokenLists("bad_words_ids"))
    if (word.size() != 1 && std::none_of(word.begin(), word.end(), foreign))
      addForbidden(word, values, ignored);
    else if (word.size() == 1 && std::count(values.end.begin(), values.end.end(), word.front()) == 0)
      add(word.front());
  for (int64_t token : config.tokens("suppress_tokens", {}))
    add(token);
  values.beginSuppress = config.tokens("begin_suppress_tokens", values.beginSuppress);
}

// Keys that talc does not honour, unless they have the value that changes nothing. docs/generation.md lists all keys.
static void findIgnored(const nlohmann::json &object, std::set<std::string> &ignored) {
  static const std::pair<const char *, double> keys[] = {
      {"constraints", 0},
      {"diversity_penalty", 0},
      {"dola_layers", 0},
      {"encoder_no_repeat_ngram_size", 0},
      {"encoder_repetition_penalty", 1},
      {"epsilon_cutoff", 0},
      {"eta_cutoff", 0},
      {"exponential_decay_length_penalty", 0},
      {"force_words_ids", 0},
      {"forced_decoder_ids", 0},
      {"generation_kwargs", 0},
      {"guidance_scale", 1},
      {"max_time", 0},
      {"num_beam_groups", 1},
      {"num_return_sequences", 1},
      {"penalty_alpha", 0},
      {"sequence_bias", 0},
      {"stop_strings", 0},
      {"token_healing", 0},
      {"top_h", 0},
      {"typical_p", 1},
      {"watermarking_config", 0},
  };
  for (auto [key, neutral] : keys) {
    auto value = object.find(key);
    bool set = value != object.end() && !value->is_null() && !(value->is_structured() && value->empty());
    if (set && !(value->is_number() && value->get<double>() == neutral) && *value != false)
      ignored.insert(key);
  }
}

static void readSettings(const nlohmann::json &object, const ModelConfig &config, int64_t vocabulary,
                         GenerationConfig &values, std::set<std::string> &ignored) {
  readTokens(config, values);
  readForced(config, values, ignored);
  readSampling(config, values);
  readLengths(config, values);
  readBeams(config, values);
  readSuppressed(config, vocabulary, values, ignored);
  findIgnored(object, ignored);
}

// generation_config.json. A token that it does not tell, or tells as null, may stand in config.json.
static std::optional<nlohmann::json> readObject(const ModelDirectory &directory, Diagnostics &diagnostics) {
  constexpr uint64_t limit = 1 << 24;
  auto text =
      directory.contains(generationFile) ? directory.readText(generationFile, limit, diagnostics) : std::nullopt;
  auto object =
      text ? parseJsonObject(*text, generationFile, ImportError::GenerationConfig, diagnostics) : std::nullopt;
  for (const char *key : {"bos_token_id", "eos_token_id"})
    if (object && object->contains(key) && object->at(key).is_null())
      object->erase(key);
  return object;
}

// Token ids that the model has no logit for; more of them than an artifact holds.
static void dropTokens(GenerationConfig &values, int64_t vocabulary, std::set<std::string> &ignored) {
  auto foreign = [&](int64_t token) { return token >= vocabulary; };
  for (std::vector<int64_t> *tokens : {&values.end, &values.suppress, &values.beginSuppress})
    tokens->erase(std::remove_if(tokens->begin(), tokens->end(), foreign), tokens->end());
  for (int64_t *token : {&values.begin, &values.start, &values.forcedBegin, &values.forcedEnd})
    if (foreign(*token))
      *token = -1;
  auto cut = [&](const char *key, std::vector<int64_t> &tokens) {
    if (tokens.size() <= artifact::maxSuppressTokens)
      return;
    ignored.insert(key);
    tokens.resize(artifact::maxSuppressTokens);
  };
  cut("suppress_tokens", values.suppress);
  cut("begin_suppress_tokens", values.beginSuppress);
}

GenerationConfig readGenerationConfig(const ModelDirectory &directory, const nlohmann::json &modelConfig,
                                      GenerationConfig defaults, int64_t vocabulary, Diagnostics &diagnostics) {
  GenerationConfig values = std::move(defaults);
  std::set<std::string> ignored;
  ModelConfig model(modelConfig, "config.json", diagnostics);
  if (values.start >= 0 && model.has("pad_token_id"))
    values.start = firstToken(model, "pad_token_id", values.start);
  if (auto generation = readObject(directory, diagnostics)) {
    readTokens(model, values);
    values.forcedEnd = -1;  // a default of config.json
    readSettings(*generation, ModelConfig(*generation, generationFile, diagnostics), vocabulary, values, ignored);
  } else {
    readSettings(modelConfig, model, vocabulary, values, ignored);
  }
  if (values.repetitionPenalty == 0)
    diagnostics.error(ImportError::GenerationConfig, fmt::format("{}: key 'repetition_penalty' is 0", generationFile));
  dropTokens(values, vocabulary, ignored);
  if (values.sample && values.beams > 1)
    ignored.insert("num_beams (with do_sample)");
  if (!ignored.empty())
    diagnostics.warning(fmt::format("{}: talc generates without {}", directory.path(), fmt::join(ignored, ", ")));
  return values;
}

}  // namespace talc
