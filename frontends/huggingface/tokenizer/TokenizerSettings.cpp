// SPDX-License-Identifier: Apache-2.0
// Reads the settings of a tokenizer. tokenizer_config.json counts before special_tokens_map.json and added_tokens.json.
#include "frontends/huggingface/tokenizer/TokenizerSettings.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace talc::frontend {

namespace {

constexpr const char *configFile = "tokenizer_config.json";

// sentence-transformers reads the first of them.
constexpr const char *sentenceFiles[] = {"sentence_bert_config.json",       "sentence_roberta_config.json",
                                         "sentence_distilbert_config.json", "sentence_camembert_config.json",
                                         "sentence_albert_config.json",     "sentence_xlm-roberta_config.json",
                                         "sentence_xlnet_config.json"};

// Keys that talc heeds, and those that change no tokens of one text.
constexpr const char *knownKeys[] = {"_commit_hash",
                                     "add_bos_token",
                                     "add_eos_token",
                                     "add_prefix_space",
                                     "added_tokens_decoder",
                                     "additional_special_tokens",
                                     "auto_map",
                                     "backend",
                                     "chat_template",
                                     "clean_up_tokenization_spaces",
                                     "device_map",
                                     "do_basic_tokenize",
                                     "do_lower_case",
                                     "do_lowercase",
                                     "errors",
                                     "extra_ids",
                                     "extra_special_tokens",
                                     "files_loaded",
                                     "fix_mistral_regex",
                                     "full_tokenizer_file",
                                     "is_local",
                                     "keep_accents",
                                     "language",
                                     "language_codes",
                                     "lang_codes",
                                     "legacy",
                                     "legacy_behaviour",
                                     "local_files_only",
                                     "model_input_names",
                                     "model_max_length",
                                     "model_specific_special_tokens",
                                     "name_or_path",
                                     "never_split",
                                     "num_madeup_words",
                                     "offset",
                                     "pad_to_multiple_of",
                                     "pad_token_type_id",
                                     "padding",
                                     "padding_side",
                                     "predict_timestamps",
                                     "processor_class",
                                     "remove_space",
                                     "response_schema",
                                     "response_template",
                                     "return_token_type_ids",
                                     "separate_vocabs",
                                     "source_lang",
                                     "sp_model_kwargs",
                                     "spaces_between_special_tokens",
                                     "special_tokens_map_file",
                                     "special_tokens",
                                     "split_special_tokens",
                                     "src_lang",
                                     "stride",
                                     "strip_accents",
                                     "target_lang",
                                     "task",
                                     "tgt_lang",
                                     "tokenize_chinese_chars",
                                     "tokenizer_class",
                                     "tokenizer_file",
                                     "tokenizer_type",
                                     "transformers_version",
                                     "trim_offsets",
                                     "truncation",
                                     "truncation_side",
                                     "truncation_strategy",
                                     "unk_id",
                                     "use_default_system_prompt",
                                     "use_fast",
                                     "verbose",
                                     "vocab_file",
                                     "vocab_size",
                                     "wordpieces_prefix"};

bool endsWith(const std::string &text, const std::string &suffix) {
  return text.size() > suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0;
}

std::string withoutSuffix(std::string text, const std::string &suffix) {
  if (endsWith(text, suffix))
    text.resize(text.size() - suffix.size());
  return text;
}

}  // namespace

TokenizerSettings::TokenizerSettings(const ModelDirectory &directory, CompileErrors &errors) : errors(errors) {
  auto read = [&](const char *file, Json &json) {
    if (!errors.failed() && directory.contains(file))
      json = readTokenizerObject(directory, file, errors);
  };
  read("config.json", models);
  model = JsonFields(models, "config", errors).optionalText("model_type").value_or("");
  read("special_tokens_map.json", specialMap);
  read("added_tokens.json", addedMap);
  for (const char *file : sentenceFiles)
    if (!errors.failed() && directory.contains(file)) {
      Json sentences = readTokenizerObject(directory, file, errors);
      isLowercase = JsonFields(sentences, "config", errors).flag("do_lower_case", false);
      break;
    }
  read(configFile, config);
  JsonFields modelFields(models, "config", errors);
  auto named = JsonFields(config, "config", errors).optionalText("tokenizer_class");
  className = withoutSuffix(named ? *named : modelFields.optionalText("tokenizer_class").value_or(""), "Fast");
  for (const char *general : {"PreTrainedTokenizer", "TokenizersBackend", "PythonBackend", "BloomTokenizer"})
    if (className == general) {
      isGeneral = true;
      className.clear();
    }
  errors.speakOf(directory.path() + "/" + configFile);
}

const Json *TokenizerSettings::modelConfig(const char *name) const {
  return JsonFields(models, "config", errors).find(name);
}

bool TokenizerSettings::says(const char *name) const {
  return JsonFields(config, "config", errors).find(name) != nullptr;
}

bool TokenizerSettings::flag(const char *name, bool fallback) const {
  return JsonFields(config, "config", errors).flag(name, fallback);
}

uint32_t TokenizerSettings::number(const char *name, uint32_t fallback) const {
  return JsonFields(config, "config", errors).number(name, fallback);
}

std::string TokenizerSettings::text(const char *name, const char *fallback) const {
  return JsonFields(config, "config", errors).optionalText(name).value_or(fallback);
}

// Null is a value here: there is no such token.
const Json *TokenizerSettings::find(const char *name) const {
  for (const Json *file : {&config, &specialMap})
    if (auto at = file->find(name); at != file->end())
      return &*at;
  return nullptr;
}

// A string, or an object as in added_tokens of tokenizer.json.
AddedToken TokenizerSettings::readToken(const Json &json, const std::string &path) const {
  AddedToken token;
  if (json.is_string()) {
    token.content = json.get<std::string>();
    return token;
  }
  JsonFields fields(json, path, errors);
  if (errors.failed())
    return token;
  token.content = fields.text("content");
  token.special = fields.flag("special", true);
  token.singleWord = fields.flag("single_word", false);
  token.stripsLeft = fields.flag("lstrip", false);
  token.stripsRight = fields.flag("rstrip", false);
  token.normalized = fields.flag("normalized", false);
  return token;
}

std::optional<AddedToken> TokenizerSettings::token(const TokenRole &role) const {
  const Json *named = find(role.name);
  if (named ? named->is_null() : !role.content)
    return std::nullopt;
  AddedToken token = named ? readToken(*named, role.name) : AddedToken{role.content, {}};
  if (!named || named->is_string())
    token.stripsLeft = role.stripsLeft;
  token.special = true;
  return token;
}

bool TokenizerSettings::names(const TokenRole &role) const {
  return find(role.name) != nullptr;
}

std::vector<AddedToken> TokenizerSettings::listedTokens() const {
  std::vector<AddedToken> tokens;
  if (const Json *decoder = find("added_tokens_decoder"); decoder && decoder->is_object()) {
    for (auto &[key, value] : decoder->items()) {
      tokens.push_back(readToken(value, "added_tokens_decoder." + key));
      bool isNumber = !key.empty() && key.size() < 10 && key.find_first_not_of("0123456789") == std::string::npos;
      tokens.back().id = readTokenId(isNumber ? Json(std::strtoull(key.c_str(), nullptr, 10)) : Json(key),
                                     "added_tokens_decoder", errors);
    }
  } else {
    for (auto &[content, id] : addedMap.items())
      tokens.push_back({content, readTokenId(id, "added_tokens.json: " + content, errors), false});
  }
  std::sort(tokens.begin(), tokens.end(), [](const AddedToken &l, const AddedToken &r) { return l.id < r.id; });
  return tokens;
}

std::vector<AddedToken> TokenizerSettings::addedTokens() const {
  std::vector<AddedToken> tokens = listedTokens();
  const Json *more = find("additional_special_tokens");
  for (size_t i = 0; more && more->is_array() && i < more->size(); ++i)
    tokens.push_back(readToken((*more)[i], "additional_special_tokens"));
  return tokens;
}

std::vector<AddedToken> TokenizerSettings::extraTokens() const {
  std::vector<AddedToken> tokens;
  auto add = [&](const Json &json, const std::string &path) {
    if (!json.is_string() && !json.is_object())
      return;
    tokens.push_back(readToken(json, path));
    tokens.back().special = true;
  };
  static const std::set<std::string> roles{"bos_token", "eos_token",  "unk_token",     "sep_token",    "pad_token",
                                           "cls_token", "mask_token", "add_bos_token", "add_eos_token"};
  for (auto &[key, value] : config.items())
    if (endsWith(key, "_token") && roles.count(key) == 0)
      add(value, key);
  const Json *more = find("extra_special_tokens");
  if (!more || more->empty())
    more = find("additional_special_tokens");
  if (more && (more->is_array() || more->is_object()))
    for (auto &[key, value] : more->items())
      add(value, "extra_special_tokens." + key);
  return tokens;
}

std::vector<std::string> TokenizerSettings::unknownKeys() const {
  std::vector<std::string> keys;
  for (auto &[key, value] : config.items()) {
    bool isEmpty = value.is_null() || value == false || (value.is_structured() && value.empty());
    bool isKnown = key.compare(0, 7, "max_len") == 0 ||
                   std::find(std::begin(knownKeys), std::end(knownKeys), key) != std::end(knownKeys);
    if (!isEmpty && !isKnown && !endsWith(key, "_token"))
      keys.push_back(key);
  }
  return keys;
}

}  // namespace talc::frontend
