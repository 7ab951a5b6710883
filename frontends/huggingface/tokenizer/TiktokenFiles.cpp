// SPDX-License-Identifier: Apache-2.0
// Byte-level BPE as OpenAI's tiktoken stores it, lines "base64 rank": tokenizer.model of Llama 3, qwen.tiktoken, and
// the files of Whisper; and tekken.json of Mistral. The code of each model has the pattern and the special tokens.
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "frontends/tokenizer/Base64.h"
#include "frontends/tokenizer/SplitPatterns.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

#include <algorithm>
#include <cctype>

namespace talc::frontend {

namespace {

constexpr const char *llamaFile = "tokenizer.model";

using SpecialTokens = std::vector<std::string>;

void addReserved(SpecialTokens &tokens, const char *begin, const char *end, size_t first, size_t count) {
  for (size_t i = 0; i < count; ++i)
    tokens.push_back(begin + std::to_string(first + i) + end);
}

// llama3/tokenizer.py; Llama 3.1, whose positions are scaled, named some of the reserved tokens.
SpecialTokens llamaTokens(const TokenizerSettings &settings) {
  constexpr size_t count = 256;
  const char *reserved = "<|reserved_special_token_";
  SpecialTokens tokens{"<|begin_of_text|>", "<|end_of_text|>"};
  if (!settings.modelConfig("rope_scaling") && !settings.modelConfig("rope_parameters")) {
    addReserved(tokens, reserved, "|>", 0, 4);
    tokens.insert(tokens.end(), {"<|start_header_id|>", "<|end_header_id|>"});
    addReserved(tokens, reserved, "|>", 4, 1);
    tokens.push_back("<|eot_id|>");
    addReserved(tokens, reserved, "|>", 5, count - tokens.size());
    return tokens;
  }
  addReserved(tokens, reserved, "|>", 0, 2);
  tokens.push_back("<|finetune_right_pad_id|>");
  addReserved(tokens, reserved, "|>", 2, 1);
  tokens.insert(tokens.end(),
                {"<|start_header_id|>", "<|end_header_id|>", "<|eom_id|>", "<|eot_id|>", "<|python_tag|>"});
  addReserved(tokens, reserved, "|>", 3, count - tokens.size());
  return tokens;
}

// tokenization_qwen.py.
SpecialTokens qwenTokens(const TokenizerSettings &) {
  SpecialTokens tokens{"<|endoftext|>", "<|im_start|>", "<|im_end|>"};
  addReserved(tokens, "<|extra_", "|>", 0, 205);
  return tokens;
}

// whisper/tokenizer.py; large-v3 knows a language more.
SpecialTokens whisperTokens(const TokenizerSettings &settings) {
  constexpr const char *languages[] = {
      "en", "zh", "de", "es", "ru", "ko", "fr", "ja", "pt",  "tr", "pl", "ca", "nl", "ar", "sv", "it", "id",
      "hi", "fi", "vi", "he", "uk", "el", "ms", "cs", "ro",  "da", "hu", "ta", "no", "th", "ur", "hr", "bg",
      "lt", "la", "mi", "ml", "cy", "sk", "te", "fa", "lv",  "bn", "sr", "az", "sl", "kn", "et", "mk", "br",
      "eu", "is", "hy", "ne", "mn", "bs", "kk", "sq", "sw",  "gl", "mr", "pa", "si", "km", "sn", "yo", "so",
      "af", "oc", "ka", "be", "tg", "sd", "gu", "am", "yi",  "lo", "uz", "fo", "ht", "ps", "tk", "nn", "mt",
      "sa", "lb", "my", "bo", "tl", "mg", "as", "tt", "haw", "ln", "ha", "ba", "jw", "su", "yue"};
  constexpr size_t timestamps = 1501, newVocabulary = 51866;
  const Json *size = settings.modelConfig("vocab_size");
  bool isNew = size && size->is_number_unsigned() && size->get<uint64_t>() >= newVocabulary;
  SpecialTokens tokens{"<|endoftext|>", "<|startoftranscript|>"};
  for (size_t i = 0; i < std::size(languages) - (isNew ? 0 : 1); ++i)
    tokens.push_back(std::string("<|") + languages[i] + "|>");
  for (const char *task : {"translate", "transcribe", "startoflm", "startofprev", "nospeech", "notimestamps"})
    tokens.push_back(std::string("<|") + task + "|>");
  for (size_t i = 0; i < timestamps; ++i) {  // every 0.02 seconds
    std::string hundredths = std::to_string(100 + i * 2 % 100).substr(1);
    tokens.push_back("<|" + std::to_string(i / 50) + "." + hundredths + "|>");
  }
  return tokens;
}

struct Scheme {
  const char *file, *pattern;
  SpecialTokens (*specialTokens)(const TokenizerSettings &);
  const char *begin;      // the token before texts; null: none
  bool composes = false;  // texts are normalized to NFC
};

const Scheme schemes[] = {{llamaFile, llama3Pattern, llamaTokens, "<|begin_of_text|>"},
                          {"qwen.tiktoken", qwen2Pattern, qwenTokens, nullptr, true},
                          {"multilingual.tiktoken", gpt2Pattern, whisperTokens, nullptr},
                          {"gpt2.tiktoken", gpt2Pattern, whisperTokens, nullptr}};

bool isBase64(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '+' || c == '/' || c == '=';
}

// The character that stands for a byte in byte-level vocabularies.
char32_t byteCharacter(unsigned char byte) {
  auto isVisible = [](unsigned c) { return (c > 32 && c < 127) || (c > 160 && c != 173); };
  if (isVisible(byte))
    return byte;
  unsigned before = 0;
  for (unsigned c = 0; c < byte; ++c)
    before += !isVisible(c);
  return 256 + before;
}

std::string byteLevelText(std::string_view bytes) {
  std::string text;
  for (char byte : bytes)
    appendCodePoint(text, byteCharacter(static_cast<unsigned char>(byte)));
  return text;
}

// Tokens by rank. Two neighbors merge where a token consists of them; the smallest rank of a token comes first.
class RankedTokens {
public:
  explicit RankedTokens(FileTranslation &translation) : translation(translation) {}

  bool add(std::string bytes, size_t rank, const std::string &place) {
    // Whisper's file has a token without bytes, which no text has.
    bool isNew = bytes.empty() || ranks.emplace(bytes, rank).second;
    if (rank != tokens.size() || !isNew) {
      translation.errors.fail(TokenizerError::Vocabulary, place,
                              "is the token of rank " + std::to_string(rank) + ", expected a new one of rank " +
                                  std::to_string(tokens.size()));
      return false;
    }
    if (isTooLong(bytes, place, translation.errors))
      return false;
    tokens.push_back(std::move(bytes));
    return true;
  }
  size_t size() const { return tokens.size(); }

  // Sets the model; the ids of tokens begin at `firstId`, and a special token takes the place of one with its spelling.
  void setModel(uint32_t firstId, const SpecialTokens &special, uint32_t firstSpecial) {
    Json vocabulary = Json::object(), merges = Json::array();
    auto know = [&](const std::string &text, size_t id) {
      vocabulary[text] = id;
      translation.draft.know(text, static_cast<uint32_t>(id));
    };
    for (size_t rank = 0; rank < tokens.size(); ++rank) {
      if (tokens[rank].empty())
        continue;
      know(byteLevelText(tokens[rank]), firstId + rank);
      addMerges(tokens[rank], merges);
    }
    for (size_t i = 0; i < special.size(); ++i)
      know(special[i], firstSpecial + i);
    Json &description = translation.draft.json;
    description["model"] = {
        {"type", "BPE"}, {"ignore_merges", true}, {"vocab", std::move(vocabulary)}, {"merges", std::move(merges)}};
    description["decoder"] = {{"type", "ByteLevel"}};
    for (const std::string &content : special)
      translation.draft.addToken({content, {}});
  }

private:
  FileTranslation &translation;
  std::vector<std::string> tokens;
  std::unordered_map<std::string, size_t> ranks;

  void addMerges(const std::string &token, Json &merges) {
    std::vector<std::pair<size_t, size_t>> pairs;
    for (size_t cut = 1; cut < token.size(); ++cut) {
      auto head = ranks.find(token.substr(0, cut)), tail = ranks.find(token.substr(cut));
      if (head != ranks.end() && tail != ranks.end())
        pairs.push_back({head->second, tail->second});
    }
    std::sort(pairs.begin(), pairs.end());
    for (auto [head, tail] : pairs)
      merges.push_back(Json::array({byteLevelText(tokens[head]), byteLevelText(tokens[tail])}));
  }
};

void setStages(Json &description, const std::string &pattern, bool composes) {
  if (composes)
    description["normalizer"] = {{"type", "NFC"}};
  Json split = {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
  Json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  description["pre_tokenizer"] = {{"type", "Sequence"},
                                  {"pretokenizers", Json::array({std::move(split), std::move(bytes)})}};
}

void setBegin(FileTranslation &translation, const char *fallback) {
  auto begin = translation.settings.token({"bos_token", fallback});
  if (begin && translation.settings.flag("add_bos_token", fallback != nullptr))
    translation.draft.setTemplates({{begin->content}, {"$A"}}, {{begin->content}, {"$A"}, {"$B", 1}});
}

bool readLines(FileTranslation &translation, const char *file, RankedTokens &tokens) {
  std::string text = readTokenizerLines(translation.directory, file, translation.errors);
  size_t line = 0;
  for (size_t begin = 0; begin < text.size() && !translation.errors.failed(); ++line) {
    size_t end = std::min(text.find('\n', begin), text.size());
    std::string entry = text.substr(begin, end - begin), bytes;
    begin = end + 1;
    if (!entry.empty() && entry.back() == '\r')
      entry.pop_back();
    if (entry.empty())
      continue;
    std::string place = "line " + std::to_string(line + 1),
                rank = entry.substr(std::min(entry.find(' '), entry.size()));
    bool isNumber = rank.size() > 1 && rank.size() < 10 && rank.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!isNumber || !decodeBase64(entry.substr(0, entry.find(' ')), bytes))
      translation.errors.fail(TokenizerError::WrongField, place, "expected a token in base64 and its rank");
    else
      tokens.add(std::move(bytes), std::stoul(rank), place);
  }
  return !translation.errors.failed();
}

// mistral_common, before tekken.json had its special tokens.
const SpecialTokens oldTekkenTokens{"<unk>",
                                    "<s>",
                                    "</s>",
                                    "[INST]",
                                    "[/INST]",
                                    "[AVAILABLE_TOOLS]",
                                    "[/AVAILABLE_TOOLS]",
                                    "[TOOL_RESULTS]",
                                    "[/TOOL_RESULTS]",
                                    "[TOOL_CALLS]",
                                    "[IMG]",
                                    "<pad>",
                                    "[IMG_BREAK]",
                                    "[IMG_END]",
                                    "[PREFIX]",
                                    "[MIDDLE]",
                                    "[SUFFIX]",
                                    "[SYSTEM_PROMPT]",
                                    "[/SYSTEM_PROMPT]",
                                    "[TOOL_CONTENT]"};

SpecialTokens readTekkenTokens(const Json &description, size_t count, CompileErrors &errors) {
  SpecialTokens tokens = oldTekkenTokens;
  JsonFields fields(description, "tekken", errors);
  if (const Json *listed = fields.find("special_tokens") ? fields.array("special_tokens") : nullptr) {
    tokens.assign(listed->size(), "");
    for (size_t i = 0; i < listed->size() && !errors.failed(); ++i) {
      std::string path = fields.path("special_tokens") + "[" + std::to_string(i) + "]";
      JsonFields token((*listed)[i], path, errors);
      uint32_t rank = token.number("rank", static_cast<uint32_t>(i));
      if (rank >= tokens.size() || !tokens[rank].empty())
        errors.fail(TokenizerError::Vocabulary, path, "rank " + std::to_string(rank) + " occurs twice or leaves a gap");
      else
        tokens[rank] = token.text("token_str");
    }
  }
  if (tokens.size() > count)
    errors.fail(TokenizerError::Vocabulary, fields.path("special_tokens"),
                "has " + std::to_string(tokens.size()) + " tokens, expected at most " + std::to_string(count));
  for (size_t i = tokens.size(); i < count && !errors.failed(); ++i)
    tokens.push_back("<SPECIAL_" + std::to_string(i) + ">");
  return tokens;
}

}  // namespace

bool hasTiktokenModel(const ModelDirectory &directory) {
  Diagnostics diagnostics;
  OpenFile file = directory.openFile(llamaFile, diagnostics);
  std::string text(file ? std::min<uint64_t>(file.size(), 1024) : 0, '\0');
  if (!file || !file.read(0, text.data(), text.size()))
    return false;
  size_t space = text.find(' '), end = text.find_first_of("\r\n");
  return space != 0 && space < end && end != std::string::npos &&
         std::all_of(text.begin(), text.begin() + space, isBase64) &&
         text.find_first_not_of("0123456789", space + 1) == end;
}

void translateTiktoken(FileTranslation &translation) {
  auto scheme = std::find_if(std::begin(schemes), std::end(schemes), [&](const Scheme &s) {
    return translation.directory.contains(s.file) && (s.file != llamaFile || hasTiktokenModel(translation.directory));
  });
  RankedTokens tokens(translation);
  if (scheme == std::end(schemes) || !readLines(translation, scheme->file, tokens))
    return;
  bool namesTokens = !translation.settings.listedTokens().empty();
  auto special = namesTokens ? SpecialTokens() : scheme->specialTokens(translation.settings);
  tokens.setModel(0, special, static_cast<uint32_t>(tokens.size()));
  setStages(translation.draft.json, scheme->pattern, scheme->composes);
  translation.addTokens({{"bos_token", nullptr}, {"eos_token", nullptr}, {"pad_token", nullptr}});
  setBegin(translation, scheme->begin);
}

void translateTekken(FileTranslation &translation) {
  CompileErrors &errors = translation.errors;
  Json description = readTokenizerObject(translation.directory, "tekken.json", errors);
  if (errors.failed())
    return;
  JsonFields fields(description, "tekken", errors);
  const Json *config = fields.object("config"), *listed = fields.array("vocab");
  if (!config || !listed)
    return;
  JsonFields settings(*config, "tekken.config", errors);
  uint32_t specialCount = settings.number("default_num_special_tokens", 1000);
  uint32_t size = settings.number("default_vocab_size", static_cast<uint32_t>(listed->size()) + specialCount);
  std::string pattern = settings.text("pattern");
  if (!errors.failed() && (specialCount > size || size - specialCount > listed->size()))
    errors.fail(TokenizerError::Vocabulary, "tekken.config.default_vocab_size",
                "is " + std::to_string(size) + ", but the file has " + std::to_string(listed->size()) +
                    " tokens beside " + std::to_string(specialCount) + " special ones");
  RankedTokens tokens(translation);
  for (size_t rank = 0; !errors.failed() && rank < size - specialCount; ++rank) {
    std::string place = "tekken.vocab[" + std::to_string(rank) + "]", bytes;
    JsonFields token((*listed)[rank], place, errors);
    if (!decodeBase64(token.text("token_bytes"), bytes))
      errors.fail(TokenizerError::WrongField, place, "expected a token in base64");
    else if (!errors.failed())
      tokens.add(std::move(bytes), token.number("rank", static_cast<uint32_t>(rank)), place);
  }
  auto special = errors.failed() ? SpecialTokens() : readTekkenTokens(description, specialCount, errors);
  if (errors.failed())
    return;
  tokens.setModel(specialCount, special, 0);
  setStages(translation.draft.json, pattern, false);
  translation.addTokens({});
  setBegin(translation, "<s>");
}

}  // namespace talc::frontend
