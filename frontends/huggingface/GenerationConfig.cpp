// SPDX-License-Identifier: Apache-2.0
// Reads generation defaults.
#include "frontends/huggingface/HuggingFace.h"

#include "frontends/Json.h"
#include "frontends/ModelConfig.h"
#include "frontends/ModelDirectory.h"
#include "frontends/families/Families.h"
#include "frontends/huggingface/JsonConfig.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace talc {

namespace settings = artifact::settings;
using artifact::Setting, artifact::SettingKind;
using nlohmann::json;

constexpr const char *generationFile = "generation_config.json";

// Null means that there is no such token.
static int64_t firstToken(const ModelConfig &config, const char *key, int64_t fallback) {
  std::vector<int64_t> tokens = config.tokens(key, {fallback});
  return tokens.empty() ? -1 : tokens.front();
}

static void readTokens(const ModelConfig &config, GenerationDefaults &values) {
  values.beginToken = firstToken(config, settings::beginToken.key, values.beginToken);
  values.end = config.tokens(settings::end.key, values.end);
  if (values.startToken >= 0 && config.has(settings::startToken.key))
    values.startToken = firstToken(config, settings::startToken.key, values.startToken);
}

static void readForced(const ModelConfig &config, GenerationDefaults &values, std::set<std::string> &ignored) {
  values.forcedBegin = firstToken(config, settings::forcedBegin.key, values.forcedBegin);
  values.forcedEnd = firstToken(config, settings::forcedEnd.key, values.forcedEnd);
  if (config.tokens(settings::forcedEnd.key, {}).size() > 1)
    ignored.insert("forced_eos_token_id (all but the first)");
}

static void readValue(const ModelConfig &config, const Setting &setting, double &value) {
  if (!config.isNull(setting.key))
    value = config.number(setting.key, value, setting.range.minimum, setting.range.maximum);
  else
    value = setting.neutral;
}

// A choice is written true or false, or as its third name.
static void readValue(const ModelConfig &config, const Setting &setting, int64_t &value) {
  const artifact::SettingRange &range = setting.range;
  auto neutral = static_cast<int64_t>(setting.neutral);
  if (setting.key == settings::topK.key && config.isNone(setting.key))
    value = neutral;
  else if (range.kind == SettingKind::Count)
    value = config
                .integerOrNull(setting.key, value,
                               {static_cast<int64_t>(range.minimum), static_cast<int64_t>(range.maximum)})
                .value_or(neutral);
  else if (range.kind == SettingKind::Choice && config.isText(setting.key) &&
           config.text(setting.key, "") == range.choices[2])
    value = 2;
  else
    value = config.isNull(setting.key) ? neutral : static_cast<int64_t>(config.flag(setting.key, value != 0));
}

// All that a key alone decides.
static void readValues(const ModelConfig &config, GenerationDefaults &values) {
  artifact::forEachSetting(values, [&](const Setting &setting, auto &value) {
    if (setting.key && setting.range.kind != SettingKind::Token)
      readValue(config, setting, value);
  });
  values.topP = std::max(values.topP, artifact::smallestAbove);  // 0 keeps the likeliest token
}

// A number of new tokens takes the place of a length, which counts the beginning of the text as well. generate() cannot
// tell the default of its class from the same length in a file and takes it for new tokens.
static void reconcileLengths(const ModelConfig &config, GenerationDefaults &values) {
  constexpr int64_t defaultLength = 20;
  if (config.has(settings::newTokens.key))
    values.maxLength = 0;
  if (config.has(settings::minNewTokens.key))
    values.minLength = 0;
  if (values.maxLength == defaultLength) {
    values.newTokens = defaultLength;
    values.maxLength = 0;
  }
}

// The bad words of several tokens.
static void addForbidden(const std::vector<int64_t> &word, GenerationDefaults &values, std::set<std::string> &ignored) {
  if (word.empty() || values.forbidden.size() + 1 + word.size() > static_cast<size_t>(settings::forbidden.maxCount)) {
    ignored.insert(settings::forbidden.key);
    return;
  }
  values.forbidden.push_back(static_cast<int64_t>(word.size()));
  values.forbidden.insert(values.forbidden.end(), word.begin(), word.end());
}

// bad_words_ids may also name the end, which generate() ignores, and tokens that never occur.
static void readSuppressed(const ModelConfig &config, int64_t vocabulary, GenerationDefaults &values,
                           std::set<std::string> &ignored) {
  auto add = [&](int64_t token) {
    if (std::count(values.suppressed.begin(), values.suppressed.end(), token) == 0)
      values.suppressed.push_back(token);
  };
  auto foreign = [&](int64_t token) { return token >= vocabulary; };
  if (config.has(settings::forbidden.key))
    values.forbidden.clear();
  for (const std::vector<int64_t> &word : config.tokenLists(settings::forbidden.key))
    if (word.size() != 1 && std::none_of(word.begin(), word.end(), foreign))
      addForbidden(word, values, ignored);
    else if (word.size() == 1 && std::count(values.end.begin(), values.end.end(), word.front()) == 0)
      add(word.front());
  for (int64_t token : config.tokens(settings::suppressed.key, {}))
    add(token);
  values.beginSuppressed = config.tokens(settings::beginSuppressed.key, values.beginSuppressed);
}

// A text or a list of texts.
static void readStops(const ModelConfig &config, GenerationDefaults &values) {
  const char *key = "stop_strings";
  if (config.isText(key))
    values.stops = {config.text(key, "")};
  else
    values.stops = config.texts(key);
  auto isWrong = [](const std::string &text) {
    return text.empty() || text.size() > artifact::maxStopBytes || text.find('\0') != std::string::npos;
  };
  if (values.stops.size() > artifact::maxStopTexts)
    config.invalid(key, fmt::format("has {} texts, expected at most {}", values.stops.size(), artifact::maxStopTexts));
  else if (auto wrong = std::find_if(values.stops.begin(), values.stops.end(), isWrong); wrong != values.stops.end())
    config.invalid(key, fmt::format("has a text of {} bytes, expected texts of 1 to {} bytes without NUL",
                                    wrong->size(), artifact::maxStopBytes));
}

// Keys that talc does not honour, and the values that change nothing. docs/generation.md lists all keys.
constexpr std::pair<const char *, double> ignoredKeys[] = {
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
    {"token_healing", 0},
    {"top_h", 0},
    {"watermarking_config", 0},
};

static void findIgnored(const json &object, std::set<std::string> &ignored) {
  for (auto [key, neutral] : ignoredKeys) {
    auto value = object.find(key);
    bool set = value != object.end() && !value->is_null() && !(value->is_structured() && value->empty());
    if (set && !(value->is_number() && value->get<double>() == neutral) && *value != false)
      ignored.insert(key);
  }
}

static void readSettings(const json &object, const ModelConfig &config, int64_t vocabulary, GenerationDefaults &values,
                         std::set<std::string> &ignored) {
  readTokens(config, values);
  readForced(config, values, ignored);
  readValues(config, values);
  reconcileLengths(config, values);
  readSuppressed(config, vocabulary, values, ignored);
  readStops(config, values);
  findIgnored(object, ignored);
}

bool isGenerationKey(const std::string &key) {
  bool isSetting = llvm::is_contained(llvm::make_first_range(ignoredKeys), key);
  artifact::forEachSetting([&](const Setting &setting) { isSetting |= setting.key && setting.key == key; });
  artifact::forEachTokenList([&](const auto &list) { isSetting |= list.key && list.key == key; });
  return isSetting;
}

// generation_config.json. A token that it does not tell, or tells as null, may stand in config.json.
static std::optional<json> readObject(const ModelDirectory &directory, Diagnostics &diagnostics) {
  constexpr uint64_t limit = 1 << 24;
  auto text =
      directory.contains(generationFile) ? directory.readText(generationFile, limit, diagnostics) : std::nullopt;
  auto object =
      text ? parseJsonObject(*text, generationFile, ImportError::GenerationConfig, diagnostics) : std::nullopt;
  for (const char *key : {settings::beginToken.key, settings::end.key})
    if (object && object->contains(key) && object->at(key).is_null())
      object->erase(key);
  return object;
}

// The settings if no file has any.
static GenerationDefaults classDefaults(const FamilyTokens &tokens) {
  GenerationDefaults values = {artifact::neutralSettings<ReadForm>(), {}};
  values.topK = 50;
  values.beginToken = tokens.begin;
  values.startToken = tokens.start;
  values.forcedEnd = tokens.forcedEnd;
  if (tokens.end >= 0)
    values.end = {tokens.end};
  return values;
}

// The training objective of the class logits.
static int64_t readClassScores(const ModelConfig &config) {
  using artifact::ClassScores;
  const char *key = "problem_type";
  std::string type = config.has(key) ? config.text(key, "") : "single_label_classification";
  ClassScores scores = ClassScores::Softmax;
  if (type == "multi_label_classification")
    scores = ClassScores::Sigmoid;
  else if (type == "regression")
    scores = ClassScores::Values;
  else if (type != "single_label_classification")
    config.unsupported(key, "is " + quotedText(type) +
                                ", expected regression, single_label_classification or multi_label_classification");
  return static_cast<int64_t>(scores);
}

GenerationDefaults readGenerationConfig(const ModelDirectory &directory, const json &modelConfig,
                                        const FamilyTokens &tokens, int64_t vocabulary, Diagnostics &diagnostics) {
  GenerationDefaults values = classDefaults(tokens);
  std::set<std::string> ignored;
  JsonConfig modelFile(modelConfig, "config.json");
  ModelConfig model(modelFile, diagnostics);
  if (values.startToken >= 0 && tokens.startPads && model.has("pad_token_id"))
    values.startToken = firstToken(model, "pad_token_id", values.startToken);
  std::string ends = modelFile.location(settings::end.key);
  if (auto generation = readObject(directory, diagnostics)) {
    readTokens(model, values);
    values.forcedEnd = -1;  // a default of config.json
    JsonConfig file(*generation, generationFile);
    readSettings(*generation, ModelConfig(file, diagnostics), vocabulary, values, ignored);
    if (generation->contains(settings::end.key))
      ends = file.location(settings::end.key);
  } else {
    readSettings(modelConfig, model, vocabulary, values, ignored);
  }
  if (values.repetitionPenalty == 0)
    diagnostics.error(ImportError::GenerationConfig, fmt::format("{}: key 'repetition_penalty' is 0", generationFile));
  fitToModel(values, vocabulary, ignored);
  if (values.end.size() > static_cast<size_t>(settings::end.maxCount))
    diagnostics.error(ImportError::GenerationConfig,
                      fmt::format("{} lists {} tokens of the vocabulary, expected at most {}", ends, values.end.size(),
                                  settings::end.maxCount));
  if (values.sample && values.beams > 1)
    ignored.insert("num_beams (with do_sample)");
  if (tokens.language && values.forcedBegin < 0)
    diagnostics.warning(
        fmt::format("{}: no forced_bos_token_id names the language to translate to; the model chooses one, as in "
                    "transformers, unless --target-lang names it, or --decoder-ids {},TOKEN its token",
                    directory.path(), values.startToken));
  if (!ignored.empty())
    diagnostics.warning(fmt::format("{}: talc generates without {}", directory.path(), fmt::join(ignored, ", ")));
  values.classScores = readClassScores(model);
  return values;
}

}  // namespace talc
