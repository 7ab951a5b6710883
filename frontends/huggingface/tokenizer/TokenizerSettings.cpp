// SPDX-License-Identifier: Apache-2.0
// Reads the settings of a tokenizer. tokenizer_config.json counts before special_tokens_map.json and added_tokens.json.
#include "frontends/huggingface/tokenizer/TokenizerSettings.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include <algorithm>
#include <cstdlib>

namespace talc::frontend {

namespace {

constexpr const char *configFile = "tokenizer_config.json";

std::string withoutSuffix(std::string text, const std::string &suffix) {
  if (text.size() > suffix.size() && text.compare(text.size() - suffix.size(), suffix.size(), suffix) == 0)
    text.resize(text.size() - suffix.size());
  return text;
}

}  // namespace

TokenizerSettings::TokenizerSettings(const ModelDirectory &directory, CompileErrors &errors) : errors(errors) {
  auto read = [&](const char *file, Json &json) {
    if (!errors.failed() && directory.contains(file))
      json = readTokenizerObject(directory, file, errors);
  };
  Json modelConfig = Json::object();
  read("config.json", modelConfig);
  model = JsonFields(modelConfig, "config", errors).optionalText("model_type").value_or("");
  read("special_tokens_map.json", specialMap);
  read("added_tokens.json", addedMap);
  read(configFile, config);
  className = JsonFields(config, "config", errors).optionalText("tokenizer_class").value_or("");
  className = withoutSuffix(className, "Fast");
  for (const char *general : {"PreTrainedTokenizer", "TokenizersBackend"})
    if (className == general)
      className.clear();
  errors.speakOf(directory.path() + "/" + configFile);
}

bool TokenizerSettings::flag(const char *name, bool fallback) const {
  return JsonFields(config, "config", errors).flag(name, fallback);
}

uint32_t TokenizerSettings::number(const char *name, uint32_t fallback) const {
  return JsonFields(config, "config", errors).number(name, fallback);
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

std::vector<AddedToken> TokenizerSettings::addedTokens() const {
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
  const Json *more = find("additional_special_tokens");
  for (size_t i = 0; more && more->is_array() && i < more->size(); ++i)
    tokens.push_back(readToken((*more)[i], "additional_special_tokens"));
  return tokens;
}

}  // namespace talc::frontend
