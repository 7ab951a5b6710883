// SPDX-License-Identifier: Apache-2.0
// Reads the vocabulary and the settings of a tokenizer from metadata.
#include "frontends/gguf/GgufTokenizer.h"

#include "frontends/Json.h"
#include "frontends/gguf/Gguf.h"
#include "frontends/tokenizer/TokenizerCompiler.h"

#include <cmath>
#include <unordered_set>

namespace talc::frontend {

constexpr const char *prefix = "tokenizer.ggml.";

const Json *GgufTokenizer::find(const std::string &name) const {
  return model.find(prefix + name);
}

void GgufTokenizer::wrong(const std::string &name, const std::string &expected) const {
  const Json *found = find(name);
  errors.fail(TokenizerError::WrongField, prefix + name,
              "expected " + expected + ", found " + (found ? talc::jsonText(*found) : "nothing"));
}

bool GgufTokenizer::flag(const char *name, bool fallback) const {
  const Json *value = find(name);
  if (!value)
    return fallback;
  if (!value->is_boolean())
    wrong(name, "true or false");
  return value->is_boolean() ? value->get<bool>() : fallback;
}

std::string GgufTokenizer::text(const char *name) const {
  const Json *value = find(name);
  if (value && !value->is_string())
    wrong(name, "a text");
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::string GgufTokenizer::bytes(const char *name) const {
  std::string result;
  const Json *value = find(name);
  for (const Json &byte : value && value->is_array() ? *value : Json::array()) {
    if (!byte.is_number_integer() || byte < -128 || byte > 255) {
      wrong(name, "a list of bytes");
      return {};
    }
    result.push_back(static_cast<char>(byte.get<int>()));
  }
  return result;
}

Json GgufTokenizer::merges() const {
  const Json *value = list("merges", 0);
  if (!value)
    wrong("merges", "a list of texts \"a b\"");
  return value ? *value : Json::array();
}

std::string GgufTokenizer::architecture() const {
  const Json *value = model.find("general.architecture");
  return value && value->is_string() ? value->get<std::string>() : std::string();
}

std::string GgufTokenizer::modelName() const {
  const Json *value = model.find("general.name");
  std::string name = value && value->is_string() ? value->get<std::string>() : std::string();
  for (char &c : name)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return name;
}

std::optional<uint32_t> GgufTokenizer::id(const char *role) const {
  const std::string name = std::string(role) + "_token_id";
  const Json *value = find(name);
  if (!value || *value == -1 || *value == UINT32_MAX)  // no token, as llama.cpp says it
    return std::nullopt;
  if (value->is_number_integer() && *value >= 0 && *value < tokens.size())
    return value->get<uint32_t>();
  wrong(name, "the id of one of " + std::to_string(tokens.size()) + " tokens");
  return std::nullopt;
}

std::optional<std::string> GgufTokenizer::token(const char *role) const {
  auto tokenId = id(role);
  return tokenId ? std::optional<std::string>(tokens[*tokenId].text) : std::nullopt;
}

// A list of that length; 0: of any. Null if there is none, or an error.
const Json *GgufTokenizer::list(const char *name, size_t length) const {
  const Json *value = find(name);
  if (value && (!value->is_array() || (length && value->size() != length))) {
    wrong(name, length ? "a list of " + std::to_string(length) + " values, one for each token" : "a list");
    return nullptr;
  }
  return value;
}

bool GgufTokenizer::readTokens(bool scored) {
  const Json *texts = list("tokens", 0);
  if (!texts)
    wrong("tokens", "a list of texts");
  const Json *scores = texts && scored ? list("scores", texts->size()) : nullptr;
  const Json *types = texts ? list("token_type", texts->size()) : nullptr;
  if (scored && !scores)
    wrong("scores", "a list of numbers");
  std::unordered_set<std::string> contents;
  for (size_t i = 0; texts && i < texts->size() && !errors.failed(); ++i) {
    const Json &text = (*texts)[i], type = types ? (*types)[i] : Json(1);
    std::string place = prefix + std::string("tokens[") + std::to_string(i) + "]";
    if (!text.is_string() || text.get_ref<const std::string &>().empty())
      errors.fail(TokenizerError::WrongField, place, "expected a text that is not empty");
    else if (!contents.insert(text.get<std::string>()).second)
      errors.fail(TokenizerError::Vocabulary, place, "'" + text.get<std::string>() + "' occurs twice");
    else if (!type.is_number_integer() || type < 1 || type > 6)
      errors.fail(TokenizerError::WrongField, place, "has type " + talc::jsonText(type) + ", expected 1 to 6");
    else if (scored && (!(*scores)[i].is_number() || !std::isfinite((*scores)[i].get<double>())))
      errors.fail(TokenizerError::WrongField, place, "has a score that is not a finite number");
    else
      tokens.push_back(
          {text.get<std::string>(), scored ? (*scores)[i].get<float>() : 0, PieceType(type.get<uint32_t>())});
  }
  return !errors.failed();
}

void GgufTokenizer::correctTypes() {
  TokenRoles roles = rolesByText(model);
  for (uint32_t id : roles.control)
    tokens[id].type = PieceType::Control;
  for (uint32_t id : roles.shown)
    tokens[id].type = PieceType::UserDefined;
}

void GgufTokenizer::addSpecialTokens() {
  correctTypes();
  for (uint32_t i = 0; i < tokens.size(); ++i) {
    const PieceType type = tokens[i].type;
    if (type != PieceType::Control && type != PieceType::Unknown && type != PieceType::UserDefined)
      continue;
    AddedToken token{tokens[i].text, i, type != PieceType::UserDefined};
    setStrips(*this, token);
    draft.addToken(token);
  }
}

// Two texts are each treated as one, but an end that no beginning separates from the next text stands there twice.
void GgufTokenizer::setTemplates(Around adds) {
  auto begin = flag("add_bos_token", adds.begin) ? token("bos") : std::nullopt;
  auto end = flag("add_eos_token", adds.end) ? token("eos") : std::nullopt;
  if (!begin && !end)
    return;
  Template single{{"$A", 0}};
  if (begin)
    single.insert(single.begin(), {*begin, 0});
  if (end)
    single.push_back({*end, 0});
  Template pair = single;
  if (begin)
    pair.push_back(end ? TemplatePart{*end, 0} : TemplatePart{*begin, 1});
  pair.push_back({"$B", end ? 0u : 1u});
  if (end)
    pair.push_back({*end, 0});
  draft.setTemplates(single, pair);
}

}  // namespace talc::frontend

namespace talc {

std::optional<std::vector<uint8_t>> compileGgufTokenizer(const std::string &path, std::string &error) {
  frontend::CompileContext context(path, error);
  Diagnostics diagnostics;
  auto model = GgufModel::open(path, diagnostics);
  if (!model) {
    context.errors.failWith(diagnostics.errors().front());
    return std::nullopt;
  }
  // Some files bring the tokenizer.json that they were made from.
  if (const nlohmann::json *json = model->find("tokenizer.huggingface.json"); json && json->is_string()) {
    auto description = frontend::parseJson(json->get_ref<const std::string &>(), context.errors);
    return description ? compileTokenizer(context, *description) : std::nullopt;
  }
  frontend::GgufTokenizer tokenizer(*model, context.errors);
  std::string kind = tokenizer.text("model");
  if (kind.empty() && !context.errors.failed())
    return std::vector<uint8_t>();
  if (frontend::TokenizerKind fill = frontend::tokenizerKind(kind); !fill)
    context.errors.fail(frontend::TokenizerError::Unsupported, "tokenizer.ggml.model",
                        "is '" + kind + "', expected " + frontend::tokenizerKinds() + frontend::useOtherTokenizer);
  else
    fill(tokenizer);
  return compileTokenizer(context, tokenizer.draft.json);
}

}  // namespace talc
