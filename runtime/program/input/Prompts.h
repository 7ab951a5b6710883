// SPDX-License-Identifier: Apache-2.0
// Turns texts into token ids, and puts a text before all of them.
#pragma once

#include "runtime/program/options/Options.h"

namespace talc::program {

struct Prompt {
  std::string text;                 // empty for a prompt given as ids
  std::vector<int32_t> ids;         // of an encoder-decoder: the source
  std::vector<int32_t> types;       // of the tokens; empty: all 0
  std::vector<int32_t> decoderIds;  // how the text of an encoder-decoder begins; empty: as the model says
  int32_t prefix = 0;               // tokens of its prefix; 0: as for all others
  std::string error = {};           // why a line cannot be evaluated; empty: it can
};

// A model puts a prompt before texts, and cuts long ones, before it reads them.
class TextRules {
public:
  // Nothing is done to texts.
  TextRules() = default;
  // Texts are in this language of the model's; nothing: in its own.
  explicit TextRules(const std::optional<std::string> &language) : source(language) {}
  // The prompt that the options name, or the model's default. Fails with TALC_ERROR_USAGE if it has none of this name.
  Status read(const talc_model *model, const talc_embedding_info &info, const Options &options);

  const std::string &prompt() const { return text; }
  const char *language() const { return source ? source->c_str() : nullptr; }
  int32_t maxTokens() const { return longest; }
  // Tokens of the prompt alone, without a special token at its end.
  int32_t promptTokens() const { return tokens; }
  // Says once that texts are cut. `place`: the name of the text in messages.
  void noteCut(const std::string &place, size_t dropped) const;

private:
  std::optional<std::string> source;
  std::string text;
  int32_t longest = 0, tokens = 0;
  mutable bool isTold = false;
};

// The limit for a text from a file.
constexpr size_t maxPromptBytes = size_t(64) << 20;

// The names of a file, and of an input of the command line, in messages.
std::string shownName(const std::string &path);
const char *itemName(const talc_model_info &info);

// The tokens that the tokenizer puts before the text of a generating model. A prompt that has them already keeps them
// once, after a warning.
class BeginTokens {
public:
  // `language`: of the prompts, as in TextRules. `isAdded`: else none are put before prompts.
  BeginTokens(const talc_model *model, const std::optional<std::string> &language, bool isAdded);

  // `place`: the name of the prompt in messages.
  void settle(Prompt &prompt, const std::string &place) const;

private:
  const talc_model *const model;
  const bool isAdded;
  std::vector<int32_t> ids;
  mutable bool hasWarned = false;
};

// `begin`: null to leave prompts as the tokenizer makes them.
Status readPrompts(const talc_model *model, const TextRules &rules, const std::vector<PromptSource> &sources,
                   const BeginTokens *begin, std::vector<Prompt> &prompts);

// Removes a byte order mark (U+FEFF), which is not text, from the beginning of a file.
constexpr const char *byteOrderMark = "\xEF\xBB\xBF";
void dropByteOrderMark(std::string &text);

// Tokenizes a line; `pair`: the second text, or null. `place` is its name in messages.
Status tokenizeLine(const talc_model *model, const TextRules &rules, const std::string &place, const std::string *pair,
                    Prompt &line);

// A text before every input, which is its prefix: its tokens see each other, and those after it do not.
class PrefixText {
public:
  // Tokenizes the text. Without one nothing is put before inputs.
  Status read(const talc_model *model, const BeginTokens &begin, const std::optional<std::string> &text);

  // Puts the prefix before an input. What the tokenizer adds to the beginning of a text is there once.
  void putBefore(Prompt &input) const;

private:
  Prompt prefix;
  std::vector<int32_t> added;
};

}  // namespace talc::program
