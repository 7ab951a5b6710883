// SPDX-License-Identifier: Apache-2.0
// Changes the stages of a tokenizer.json as transformers does where its class heeds a setting.
#include "frontends/huggingface/tokenizer/LanguageRules.h"
#include "frontends/huggingface/tokenizer/TokenIds.h"
#include "frontends/huggingface/tokenizer/TokenizerClasses.h"
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/huggingface/tokenizer/TokenizerSettings.h"
#include "frontends/tokenizer/SplitPatterns.h"

#include <algorithm>
#include <cstdlib>

namespace talc::frontend {

namespace {

constexpr const char *space = "\u2581";  // what stands for a space in pieces

bool isType(const Json &stage, const char *type) {
  auto at = stage.is_object() ? stage.find("type") : stage.end();
  return at != stage.end() && *at == type;
}

// Calls `each` with a stage, or with the members of a sequence.
template <typename Each> void forEachStage(Json &stage, const char *list, Each each) {
  if (!stage.is_object())
    return;
  if (isType(stage, "Sequence") && stage.contains(list) && stage[list].is_array())
    for (Json &member : stage[list])
      forEachStage(member, list, each);
  else
    each(stage);
}

// Removes the stages for which `isRemoved` holds.
template <typename IsRemoved> void removeStages(Json &stage, const char *list, IsRemoved isRemoved) {
  if (!stage.is_object())
    return;
  if (isRemoved(stage)) {
    stage = nullptr;
  } else if (isType(stage, "Sequence") && stage.contains(list) && stage[list].is_array()) {
    Json kept = Json::array();
    for (Json &member : stage[list]) {
      removeStages(member, list, isRemoved);
      if (!member.is_null())
        kept.push_back(std::move(member));
    }
    stage[list] = std::move(kept);
  }
}

class JsonSettings {
public:
  JsonSettings(Json &description, const TokenizerSettings &settings, CompileErrors &errors)
      : description(description), settings(settings), errors(errors),
        known(settings.isGeneric() ? nullptr : findTokenizerClass(settings)) {}

  void apply() {
    applyTokens(description, settings, errors);
    if (errors.failed())
      return;
    applyCase();
    applyPrefixSpace();
    applyEnds();
    applyMistralWords();
    if (settings.flag("split_special_tokens", false))
      forEachToken([](Json &token) {
        if (token.value("special", Json()) == true)
          token["matched"] = false;
      });
    warnOfOthers();
  }

  // Texts become lowercase before anything else, so that tokens with capital letters are text in them. A sigma at the
  // end of a word has a lowercase letter of its own.
  void lowercaseTexts() {
    Json rules = Json::array(
        {{{"type", "Replace"}, {"pattern", {{"Regex", "(?<=\\p{L})\u03a3(?!\\p{L})"}}}, {"content", "\u03c2"}},
         {{"type", "Lowercase"}}});
    if (!description["normalizer"].is_null())
      rules.push_back(std::move(description["normalizer"]));
    description["normalizer"] = {{"type", "Sequence"}, {"normalizers", std::move(rules)}};
    auto isCapital = [](char c) { return c >= 'A' && c <= 'Z'; };
    forEachToken([&](Json &token) {
      auto content = token.is_object() && token.contains("content") ? token["content"] : Json();
      if (content.is_string() && token.value("normalized", Json()) != true)
        if (const auto &text = content.get_ref<const std::string &>(); std::any_of(text.begin(), text.end(), isCapital))
          token["matched"] = false;
    });
  }

private:
  Json &description;
  const TokenizerSettings &settings;
  CompileErrors &errors;
  const TokenizerClass *known;

  bool has(unsigned trait) const { return known && (known->traits & trait) == trait; }
  std::string className() const {
    return known ? known->name : settings.isGeneric() ? "PreTrainedTokenizerFast" : settings.tokenizerClass();
  }

  template <typename Each> void forEachToken(Each each) {
    if (description["added_tokens"].is_array())
      for (Json &token : description["added_tokens"])
        if (token.is_object())
          each(token);
  }

  void warnOfNoEffect(const char *key) {
    errors.warn(std::string(key) + " has no effect on " + (className().empty() ? "this tokenizer" : className()) +
                " with a tokenizer.json, as in transformers");
  }

  void applyCase() {
    Json &normalizer = description["normalizer"];
    bool lowercase = settings.flag("do_lower_case", true), isLowercase = false;
    forEachStage(normalizer, "normalizers", [&](Json &stage) {
      isLowercase |= isType(stage, "Lowercase") ||
                     (isType(stage, "BertNormalizer") && stage.value("lowercase", Json(true)) == true);
      if (!has(heedsLowercase) || !isType(stage, "BertNormalizer"))
        return;
      stage["lowercase"] = isLowercase = lowercase;
      stage["handle_chinese_chars"] = settings.flag("tokenize_chinese_chars", true);
      stage["strip_accents"] = settings.says("strip_accents") ? Json(settings.flag("strip_accents", false)) : Json();
    });
    if (!settings.says("do_lower_case") || isLowercase == lowercase)
      return;
    if (settings.isGeneric() || settings.tokenizerClass().empty())
      return warnOfNoEffect("do_lower_case");
    if (!lowercase) {
      removeStages(normalizer, "normalizers", [](const Json &stage) { return isType(stage, "Lowercase"); });
      return;
    }
    Json rules = Json::array({Json::object({{"type", "Lowercase"}})});
    if (!normalizer.is_null())
      rules.insert(rules.begin(), std::move(normalizer));
    normalizer = {{"type", "Sequence"}, {"normalizers", std::move(rules)}};
  }

  void applyPrefixSpace() {
    if (!settings.says("add_prefix_space") && !has(heedsPrefixSpace))
      return;
    bool adds = settings.flag("add_prefix_space", false);
    Json &preTokenizer = description["pre_tokenizer"];
    forEachStage(preTokenizer, "pretokenizers", [&](Json &stage) {
      if (isType(stage, "ByteLevel"))
        stage["add_prefix_space"] = adds;
    });
    if (settings.isGeneric() || settings.tokenizerClass().empty())
      return;
    const char *scheme = !adds ? "never" : settings.flag("legacy", true) ? "always" : "first";
    auto setScheme = [&](Json &stage) {
      bool isPrefixed = stage.value("prepend_scheme", Json("always")) != "never";
      if (isType(stage, "Metaspace") && isPrefixed != adds)
        stage["prepend_scheme"] = scheme;
    };
    forEachStage(preTokenizer, "pretokenizers", setScheme);
    forEachStage(description["decoder"], "decoders", setScheme);
    if (!adds) {
      removeStages(description["normalizer"], "normalizers", [](const Json &stage) {
        return isType(stage, "Prepend") && stage.value("prepend", Json()) == space;
      });
      removeStages(description["decoder"], "decoders",
                   [](const Json &stage) { return isType(stage, "Strip") && stage.value("content", Json()) == " "; });
    }
  }

  // The token at one end, if it is added there.
  std::optional<std::string> findEnd(TokenIds &ids, const char *name, const char *content, const char *key,
                                     bool fallback) {
    if (!settings.flag(key, fallback))
      return std::nullopt;
    auto token = settings.token({name, content});
    if (token && ids.find(token->content))
      return token->content;
    if (settings.says(key))
      errors.warn(std::string(key) + " has no effect, because the vocabulary has no such token");
    return std::nullopt;
  }

  // Whether tokenizer.json itself adds tokens around texts.
  bool addsTokens() const {
    std::string text = description.value("post_processor", Json()).dump();
    auto holds = [&](const char *part) { return text.find(part) != std::string::npos; };
    return holds("SpecialToken") || holds("BertProcessing") || holds("RobertaProcessing");
  }

  // Releases of transformers before 5 let a class add its own tokens where no setting says whether. What later releases
  // save, which name a backend, says all in tokenizer.json.
  bool takesOwnEnds(TokenIds &ids) {
    bool isOlder = !settings.tokenizerClass().empty() && !settings.says("backend");
    if (!isOlder || addsTokens() || !known->ends.addsBegin)
      return false;
    auto begin = settings.token({"bos_token", known->ends.begin});
    if (!begin || !ids.find(begin->content))
      return false;
    errors.warn("lacks add_bos_token, which " + className() + " takes as true: texts begin with '" + begin->content +
                "', as in transformers before release 5");
    return true;
  }

  void applyEnds() {
    bool isSaid = settings.says("add_bos_token") || settings.says("add_eos_token");
    if (!has(heedsEnds)) {
      for (const char *key : {"add_bos_token", "add_eos_token"})
        if (settings.flag(key, false) && !addsTokens())
          warnOfNoEffect(key);
      return;
    }
    TokenIds ids(description);
    if (isSaid || has(replacesEnds) || takesOwnEnds(ids))
      replaceEnds(ids);
  }

  void replaceEnds(TokenIds &ids) {
    auto begin = findEnd(ids, "bos_token", known->ends.begin, "add_bos_token", known->ends.addsBegin);
    auto end = findEnd(ids, "eos_token", known->ends.end, "add_eos_token", known->ends.addsEnd);
    TokenizerDraft draft(errors);
    for (const auto &token : {begin, end})
      if (token)
        draft.know(*token, *ids.find(*token));
    auto around = [&](const char *sequence, uint32_t type) {
      Template parts{{sequence, type}};
      if (begin)
        parts.insert(parts.begin(), {*begin, type});
      if (end)
        parts.push_back({*end, type});
      return parts;
    };
    Template single = around("$A", 0), pair = single, second = around("$B", 1);
    pair.insert(pair.end(), second.begin(), second.end());
    draft.setTemplates(single, pair);
    description["post_processor"] = std::move(draft.json["post_processor"]);
  }

  void warnOfOthers() {
    for (const std::string &key : settings.unknownKeys())
      errors.warn("'" + key + "' is not known to talc and changes no tokens");
  }

  // Mistral's files had a wrong pattern of words until release 5 of transformers, which replaces it if this is asked
  // for.
  bool mayHaveWrongWords() const {
    constexpr size_t tekkenSize = 100'000;
    constexpr unsigned long correctRelease = 5;
    const std::string &type = settings.modelType();
    bool isMistral = type.empty() && settings.hasModelConfig();
    for (const char *name : {"mistral", "mistral3", "voxtral", "ministral", "pixtral"})
      isMistral |= type == name;
    auto model = description.find("model");
    bool isLarge = model != description.end() && model->is_object() && model->contains("vocab") &&
                   model->at("vocab").size() > tekkenSize;
    const Json *release = settings.modelConfig("transformers_version");
    bool isOld = !release || (release->is_string() && std::strtoul(release->get_ref<const std::string &>().c_str(),
                                                                   nullptr, 10) < correctRelease);
    return isMistral && isLarge && isOld;
  }

  void applyMistralWords() {
    if (!settings.flag("fix_mistral_regex", false))
      return;
    if (!mayHaveWrongWords() || description.value("pre_tokenizer", Json()).is_null())
      return errors.warn("fix_mistral_regex has no effect on this tokenizer, as in transformers");
    Json split{{"type", "Split"}, {"pattern", {{"Regex", tekkenPattern}}}, {"behavior", "Isolated"}, {"invert", false}};
    Json &words = description["pre_tokenizer"];
    bool isSequence = isType(words, "Sequence") && words.contains("pretokenizers") && words["pretokenizers"].is_array();
    if (isSequence && !words["pretokenizers"].empty()) {
      words["pretokenizers"][0] = std::move(split);
      return;
    }
    Json rest =
        isType(words, "Metaspace")
            ? Json{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}}
            : words;
    words = {{"type", "Sequence"}, {"pretokenizers", Json::array({std::move(split), std::move(rest)})}};
  }
};

}  // namespace

Json readTokenizerJson(const ModelDirectory &directory, CompileErrors &errors) {
  Json description = readTokenizerObject(directory, "tokenizer.json", errors);
  if (errors.failed())
    return description;
  TokenizerSettings settings(directory, errors);
  JsonSettings changes(description, settings, errors);
  if (!errors.failed())
    changes.apply();
  applyLanguages(description, settings, errors);
  if (!errors.failed() && settings.lowercasesTexts())
    changes.lowercaseTexts();
  errors.speakOf(directory.path() + "/tokenizer.json");
  return description;
}

}  // namespace talc::frontend
