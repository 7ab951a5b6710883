// SPDX-License-Identifier: Apache-2.0
// Puts the token of a text's language where the classes of transformers put it.
#include "frontends/huggingface/tokenizer/LanguageRules.h"
#include "frontends/huggingface/tokenizer/TokenIds.h"
#include "frontends/huggingface/tokenizer/TokenizerClasses.h"

#include <algorithm>

namespace talc::frontend {

namespace {

const TokenRole roles[] = {{"bos_token", "<s>"},    {"eos_token", "</s>"},  {"unk_token", "<unk>"},
                           {"sep_token", "</s>"},   {"pad_token", "<pad>"}, {"cls_token", "<s>"},
                           {"mask_token", "<mask>"}};

class LanguageSettings {
public:
  LanguageSettings(Json &description, const LanguageRules &rules, const TokenizerSettings &settings,
                   CompileErrors &errors)
      : description(description), rules(rules), settings(settings), errors(errors), vocabulary(description) {}

  void apply() {
    findLanguages();
    const std::string code = settings.text("src_lang", rules.ownCode);
    auto token = vocabulary.find(rules.spell(code));
    auto isSource = [&](const Json &language) { return language["name"] == code; };
    bool isKnown = token && std::any_of(languages.begin(), languages.end(), isSource);
    if (!isKnown && settings.says("src_lang"))
      return errors.fail(TokenizerError::Vocabulary, "src_lang", "'" + code + "' is not a language of the vocabulary");
    if (!isKnown)  // a vocabulary of something else
      return;
    addTemplates(rules.spell(code), *token);
    description["languages"] = std::move(languages);
    description["source_language"] = *token;
  }

private:
  Json &description;
  const LanguageRules &rules;
  const TokenizerSettings &settings;
  CompileErrors &errors;
  TokenIds vocabulary;
  Json languages = Json::array();

  void addLanguage(const std::string &code) {
    auto isSame = [&](const Json &language) { return language["name"] == code; };
    auto token = vocabulary.find(rules.spell(code));
    if (token && std::none_of(languages.begin(), languages.end(), isSame))
      languages.push_back({{"name", code}, {"id", *token}});
  }

  // The class's own, then special tokens that somebody added.
  void findLanguages() {
    for (const std::string &code : rules.list())
      addLanguage(code);
    const Json added = description.value("added_tokens", Json::array());
    for (const Json &token : added) {
      if (!token.is_object() || token.value("special", Json()) != true || !token.value("content", Json()).is_string())
        continue;
      std::string content = token["content"].get<std::string>(), quotes = rules.quotes;
      bool isSpelledSo = content.size() > 2 * quotes.size() && content.compare(0, quotes.size(), quotes) == 0 &&
                         content.compare(content.size() - quotes.size(), quotes.size(), quotes) == 0;
      if (isSpelledSo && !hasRole(content))
        addLanguage(content.substr(quotes.size(), content.size() - 2 * quotes.size()));
    }
  }

  bool hasRole(const std::string &content) const {
    return std::any_of(std::begin(roles), std::end(roles), [&](const TokenRole &role) {
      auto token = settings.token(role);
      return token && token->content == content;
    });
  }

  void addTemplates(const std::string &language, uint32_t token) {
    TokenizerDraft draft(errors);
    draft.know(language, token);
    auto end = settings.token(roles[1]);
    const std::string endToken = end ? end->content : "";
    if (auto id = vocabulary.find(endToken))
      draft.know(endToken, *id);
    bool standsLast = rules.standsLastKey ? settings.flag(rules.standsLastKey, rules.standsLast) : rules.standsLast;
    auto around = [&](Template parts) {
      parts.push_back({endToken});
      parts.insert(standsLast ? parts.end() : parts.begin(), {language});
      return parts;
    };
    draft.setTemplates(around({{"$A"}}), around({{"$A"}, {"$B"}}));
    description["post_processor"] = std::move(draft.json["post_processor"]);
  }
};

}  // namespace

void applyLanguages(Json &description, const TokenizerSettings &settings, CompileErrors &errors) {
  const TokenizerClass *known = settings.isGeneric() ? nullptr : findTokenizerClass(settings);
  const LanguageRules *rules = known ? findLanguageRules(known->name, settings, errors) : nullptr;
  if (rules && !errors.failed())
    LanguageSettings(description, *rules, settings, errors).apply();
}

}  // namespace talc::frontend
