// SPDX-License-Identifier: Apache-2.0
// Models of tokenizer.json: BPE, WordPiece, Unigram and WordLevel vocabularies.
#include "frontends/FileLimits.h"
#include "frontends/tokenizer/stages/PipelineStages.h"

#include <algorithm>
#include <cstdio>
#include <unordered_map>
#include <utility>

namespace talc::frontend {

using namespace tokenizer;

namespace {

constexpr double unknownPenalty = 10.0;  // below the lowest score of a Unigram vocabulary

class ModelCompiler {
public:
  ModelCompiler(CompileContext &context, const Json &json, const std::string &path)
      : context(context), section(context.section), errors(context.errors), model(section.header.model),
        fields(json, path, context.errors) {}

  void run() {
    model.unknown = model.continuations = model.pieces = none;
    std::fill(std::begin(model.byteTokens), std::end(model.byteTokens), none);
    std::string type = inferType();
    if (type == "BPE")
      compileBpe();
    else if (type == "WordPiece")
      compileWordPiece();
    else if (type == "Unigram")
      compileUnigram();
    else if (type == "WordLevel")
      compileWordLevel();
    else
      errors.fail(TokenizerError::Unsupported, fields.path("type"), "model '" + type + "' is not known to talc");
  }

private:
  using Vocabulary = std::unordered_map<std::string, uint32_t>;

  CompileContext &context;
  SectionBuilder &section;
  CompileErrors &errors;
  Model &model;
  JsonFields fields;
  Vocabulary vocabulary;

  // Old files do not say.
  std::string inferType() const {
    if (auto type = fields.optionalText("type"))
      return *type;
    const Json *vocab = fields.find("vocab");
    if (fields.find("merges"))
      return "BPE";
    if (vocab && vocab->is_array())
      return "Unigram";
    return fields.find("max_input_chars_per_word") ? "WordPiece" : "WordLevel";
  }

  void addToken(const std::string &text, uint32_t id, const std::string &path) {
    if (isTooLong(text, path, errors))
      return;
    if (id >= section.tokens.size())
      section.tokens.resize(id + 1, Token{{0, 0}, 0});
    if (section.tokens[id].flags & tokenPresent)
      return errors.fail(TokenizerError::Vocabulary, path, "id " + std::to_string(id) + " belongs to two tokens");
    section.tokens[id] = {section.addText(text), tokenPresent};
    vocabulary[text] = id;
  }

  void readVocabulary() {
    const Json *vocab = fields.object("vocab");
    if (!vocab)
      return;
    for (auto &[text, value] : vocab->items()) {
      std::string path = fields.path("vocab") + "." + text;
      auto id = readTokenId(value, path, errors);
      if (id && *id >= maxTokenIds(vocab->size()))
        errors.fail(TokenizerError::TooLarge, path,
                    "the id " + std::to_string(*id) + " in a vocabulary of " + std::to_string(vocab->size()) +
                        " tokens");
      else if (id)
        addToken(text, *id, path);
      if (errors.failed())
        return;
    }
  }

  uint32_t findId(const std::string &text) const {
    auto at = vocabulary.find(text);
    return at == vocabulary.end() ? none : at->second;
  }

  uint32_t addTrie(const std::string &prefix) {
    std::vector<std::pair<std::string, uint32_t>> keys;
    for (auto &[text, id] : vocabulary)
      if (text.compare(0, prefix.size(), prefix) == 0)
        keys.push_back({text.substr(prefix.size()), id});
    return section.addTrie(std::move(keys));
  }

  void findByteTokens() {
    for (unsigned byte = 0; byte < 256; ++byte) {
      char name[8];
      std::snprintf(name, sizeof name, "<0x%02X>", byte);
      model.byteTokens[byte] = findId(name);
    }
    model.flags |= modelByteFallback;
  }

  void compileBpe() {
    model.kind = uint32_t(ModelKind::Bpe);
    readVocabulary();
    if (errors.failed())
      return;
    auto unknown = fields.optionalText("unk_token");
    if (unknown)
      model.unknown = findId(*unknown);
    if (!unknown)
      model.flags |= modelDropUnknown;
    if (fields.flag("fuse_unk", false))
      model.flags |= modelFuseUnknown;
    if (fields.flag("ignore_merges", false))
      model.flags |= modelIgnoreMerges;
    if (fields.flag("byte_fallback", false))
      findByteTokens();
    // Translations of SentencePiece models: pieces without an id of their own, which become the unknown token.
    if (fields.find("segments"))
      forEachIn(context, fields, "segments", [&](const Json &json, const std::string &path) {
        auto id = static_cast<uint32_t>(section.tokens.size());
        addToken(json.is_string() ? json.get<std::string>() : "", id, path);
        if (!errors.failed())
          section.tokens[id].flags = 0;
      });
    std::string prefix = fields.optionalText("continuing_subword_prefix").value_or("");
    model.prefix = section.addText(prefix);
    model.suffix = section.addText(fields.optionalText("end_of_word_suffix").value_or(""));
    model.pieces = addTrie("");
    readMerges(prefix.size());
  }

  struct RankedMerge {
    uint32_t lhs;
    Merge merge;
  };

  void readMerges(size_t prefixSize) {
    std::vector<RankedMerge> ranked;
    if (fields.find("merges")) {
      forEachIn(context, fields, "merges", [&](const Json &json, const std::string &path) {
        std::string lhs, rhs;
        if (splitMerge(json, path, lhs, rhs))
          addMerge(lhs, rhs, prefixSize, path, ranked);
      });
    }
    auto before = [](const RankedMerge &l, const RankedMerge &r) {
      if (l.lhs != r.lhs)
        return l.lhs < r.lhs;
      if (l.merge.right != r.merge.right)
        return l.merge.right < r.merge.right;
      return l.merge.rank > r.merge.rank;
    };
    std::sort(ranked.begin(), ranked.end(), before);
    // If a merge is listed twice, the later rank counts.
    auto same = [](const RankedMerge &l, const RankedMerge &r) {
      return l.lhs == r.lhs && l.merge.right == r.merge.right;
    };
    ranked.erase(std::unique(ranked.begin(), ranked.end(), same), ranked.end());
    section.mergeFirst.assign(section.tokens.size() + 1, 0);
    for (const RankedMerge &entry : ranked)
      ++section.mergeFirst[entry.lhs + 1], section.merges.push_back(entry.merge);
    for (size_t i = 1; i < section.mergeFirst.size(); ++i)
      section.mergeFirst[i] += section.mergeFirst[i - 1];
  }

  // ["a", "b"] or "a b".
  bool splitMerge(const Json &json, const std::string &path, std::string &lhs, std::string &rhs) {
    if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string()) {
      lhs = json[0].get_ref<const std::string &>();
      rhs = json[1].get_ref<const std::string &>();
      return true;
    }
    if (json.is_string()) {
      const auto &text = json.get_ref<const std::string &>();
      size_t space = text.find(' ');
      if (text.compare(0, 8, "#version") == 0)
        return false;
      if (space != std::string::npos && text.find(' ', space + 1) == std::string::npos) {
        lhs = text.substr(0, space);
        rhs = text.substr(space + 1);
        return true;
      }
    }
    errors.fail(TokenizerError::WrongField, path, "expected [\"a\", \"b\"] or \"a b\"");
    return false;
  }

  void addMerge(const std::string &lhs, const std::string &rhs, size_t prefixSize, const std::string &path,
                std::vector<RankedMerge> &ranked) {
    std::string result = lhs + rhs.substr(std::min(prefixSize, rhs.size()));
    for (const std::string *part : {&lhs, &rhs, &std::as_const(result)})
      if (findId(*part) == none)
        return errors.fail(TokenizerError::Merge, path, "'" + *part + "' is not in the vocabulary");
    auto rank = static_cast<uint32_t>(ranked.size());
    ranked.push_back({findId(lhs), {findId(rhs), rank, findId(result)}});
  }

  void compileWordPiece() {
    model.kind = uint32_t(ModelKind::WordPiece);
    readVocabulary();
    if (errors.failed())
      return;
    model.unknown = findId(fields.optionalText("unk_token").value_or("[UNK]"));
    model.maxWordLength = fields.number("max_input_chars_per_word", 100);
    model.pieces = addTrie("");
    model.continuations = addTrie(fields.optionalText("continuing_subword_prefix").value_or("##"));
  }

  void compileWordLevel() {
    model.kind = uint32_t(ModelKind::WordLevel);
    readVocabulary();
    if (errors.failed())
      return;
    model.unknown = findId(fields.optionalText("unk_token").value_or("<unk>"));
    model.pieces = addTrie("");
  }

  void compileUnigram() {
    model.kind = uint32_t(ModelKind::Unigram);
    std::vector<std::pair<std::string, uint32_t>> pieces;
    double lowest = 0;
    auto addPiece = [&](const Json &json, const std::string &path) {
      if (!json.is_array() || json.size() != 2 || !json[0].is_string() || !(json[1].is_number() || json[1].is_null()))
        return errors.fail(TokenizerError::WrongField, path, "expected [\"piece\", score]");
      if (isTooLong(json[0].get_ref<const std::string &>(), path, errors))
        return;
      auto id = static_cast<uint32_t>(section.scores.size());
      double score = json[1].is_null() ? 0.0 : json[1].get<double>();
      section.scores.push_back(score);
      if (json[1].is_null())
        return;
      lowest = pieces.empty() ? score : std::min(lowest, score);
      pieces.push_back({json[0].get_ref<const std::string &>(), id});
    };
    forEachIn(context, fields, "vocab", [&](const Json &json, const std::string &path) {
      addPiece(json, path);
      if (!errors.failed())
        addToken(json[0].get_ref<const std::string &>(), static_cast<uint32_t>(section.scores.size() - 1), path);
    });
    // Translations of SentencePiece models: pieces of texts without an id of their own.
    if (fields.find("segments")) {
      forEachIn(context, fields, "segments", addPiece);
      model.flags |= modelFloatScores;
    }
    if (errors.failed())
      return;
    model.unknown = fields.number("unk_id", none);
    if (model.unknown != none && model.unknown >= section.tokens.size())
      return errors.fail(TokenizerError::Vocabulary, fields.path("unk_id"), "lies outside of the vocabulary");
    if (fields.flag("byte_fallback", false))
      findByteTokens();
    section.header.unknownScore = lowest - unknownPenalty;
    if (model.flags & modelFloatScores)
      section.header.unknownScore = static_cast<float>(section.header.unknownScore);
    model.pieces = section.addTrie(std::move(pieces));
  }
};

}  // namespace

void compileModel(CompileContext &context, const Json &json, const std::string &path) {
  ModelCompiler(context, json, path).run();
}

}  // namespace talc::frontend
