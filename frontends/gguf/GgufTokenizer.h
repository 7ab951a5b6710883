// SPDX-License-Identifier: Apache-2.0
// The keys tokenizer.ggml.* of a GGUF model, and the kinds of tokenizers that they describe.
#pragma once

#include "frontends/gguf/GgufModel.h"
#include "frontends/tokenizer/TokenizerDraft.h"
#include "frontends/tokenizer/sentencepiece/SentencePieceModel.h"

#include <optional>
#include <string>
#include <vector>

namespace talc::frontend {

class GgufTokenizer {
public:
  // Keeps references to both.
  GgufTokenizer(const GgufModel &model, CompileErrors &errors) : errors(errors), draft(errors), model(model) {}

  // The tokens by id, with scores if the kind needs them.
  bool readTokens(bool scored);

  bool flag(const char *name, bool fallback) const;
  std::string text(const char *name) const;  // empty: absent
  std::string bytes(const char *name) const;
  nlohmann::json merges() const;
  // The content of the token that "<role>_token_id" names.
  std::optional<std::string> token(const char *role) const;
  std::optional<uint32_t> id(const char *role) const;
  std::string architecture() const;
  std::string modelName() const;  // in small letters

  // Control tokens and user-defined tokens are matched in texts before anything else. Some are known by their texts
  // (GgufTokenRoles.cpp), and some strip the spaces beside them (GgufStrips.cpp).
  void addSpecialTokens();
  // Puts the tokens of these roles around texts, if add_bos_token and add_eos_token say so, or by default `adds`.
  struct Around {
    bool begin, end;
  };
  void setTemplates(Around adds);

  CompileErrors &errors;
  TokenizerDraft draft;
  std::vector<SentencePiece> tokens;

private:
  const nlohmann::json *find(const std::string &name) const;
  void correctTypes();
  void wrong(const std::string &name, const std::string &expected) const;
  const nlohmann::json *list(const char *name, size_t length) const;

  const GgufModel &model;
};

// The end of a message about a tokenizer that talc does not know: it says what to do.
constexpr const char *useOtherTokenizer = "; with --tokenizer=DIR talc takes the tokenizer of the original model";

// Sets which spaces beside a special token belong to it: GGUF does not say, but names do (GgufStrips.cpp).
void setStrips(const GgufTokenizer &tokenizer, AddedToken &token);

// The function that fills the draft for a value of tokenizer.ggml.model (GgufTokenizerKinds.cpp).
using TokenizerKind = void (*)(GgufTokenizer &);
TokenizerKind tokenizerKind(const std::string &name);
std::string tokenizerKinds();

// Tokens whose texts say what they are for (GgufTokenRoles.cpp). GGUF files name one end of texts by its id, but models
// also end their turns with others, and some converters gave such tokens the type of words. Ids are below the number of
// tokens. Source: llama-vocab.cpp of llama.cpp.
struct TokenRoles {
  std::vector<uint32_t> ends;     // a text ends with any of these; in ascending order
  std::vector<uint32_t> control;  // control tokens, whatever their types say
  std::vector<uint32_t> shown;    // part of the text, although their types say otherwise
};

// Empty if the metadata have no list of tokens, or if that is not a list of texts.
TokenRoles rolesByText(const GgufModel &model);

}  // namespace talc::frontend
