// SPDX-License-Identifier: Apache-2.0
// Looks for the mask token's text, then for the id of that text.
#include "frontends/huggingface/HuggingFace.h"

#include "frontends/Json.h"
#include "frontends/ModelDirectory.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace talc {

using nlohmann::json;

static std::optional<std::string> readQuietly(const ModelDirectory &directory, const char *file) {
  constexpr uint64_t limit = 1 << 28;
  Diagnostics ignored;
  return directory.contains(file) ? directory.readText(file, limit, ignored) : std::nullopt;
}

// An empty object if there is no such file.
static json readObject(const ModelDirectory &directory, const char *file) {
  Diagnostics ignored;
  auto text = readQuietly(directory, file);
  auto object = text ? parseJsonObject(*text, file, ImportError::ConfigFile, ignored) : std::nullopt;
  return object.value_or(json::object());
}

static const json &member(const json &object, const std::string &key) {
  static const json nothing;
  auto it = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && it != object.end() ? *it : nothing;
}

// A token is written as a string, or as an object with the key `content`.
static std::string tokenContent(const json &token) {
  const json &content = token.is_object() ? member(token, "content") : token;
  return content.is_string() ? content.get<std::string>() : std::string();
}

static int64_t tokenId(const json &value) {
  return value.is_number_unsigned() && value.get<uint64_t>() <= INT32_MAX ? value.get<int64_t>() : -1;
}

// {"103": {"content": "[MASK]"}}
static int64_t findDecoded(const json &tokens, llvm::StringRef content) {
  int64_t id = -1;
  if (tokens.is_object())
    for (auto &[key, token] : tokens.items())
      if (tokenContent(token) == content && !llvm::StringRef(key).getAsInteger(10, id))
        return id;
  return -1;
}

// [{"id": 103, "content": "[MASK]"}]
static int64_t findAdded(const json &tokens, llvm::StringRef content) {
  if (tokens.is_array())
    for (const json &token : tokens)
      if (tokenContent(token) == content)
        return tokenId(member(token, "id"));
  return -1;
}

static int64_t findLine(const std::optional<std::string> &text, llvm::StringRef content) {
  llvm::SmallVector<llvm::StringRef, 0> lines;
  if (text)
    llvm::StringRef(*text).split(lines, '\n');
  for (size_t i = 0; i < lines.size(); ++i)
    if (lines[i].rtrim('\r') == content)
      return static_cast<int64_t>(i);
  return -1;
}

int64_t findMaskToken(const ModelDirectory &directory) {
  const json config = readObject(directory, "tokenizer_config.json"),
             tokenizer = readObject(directory, "tokenizer.json");
  std::string named = tokenContent(member(config, "mask_token"));
  if (named.empty())
    named = tokenContent(member(readObject(directory, "special_tokens_map.json"), "mask_token"));
  auto vocabulary = readQuietly(directory, "vocab.txt");
  const std::string commonTokens[] = {"[MASK]", "<mask>"};
  for (const std::string &content : named.empty() ? llvm::ArrayRef<std::string>(commonTokens) : llvm::ArrayRef(named)) {
    for (int64_t id : {findDecoded(member(config, "added_tokens_decoder"), content),
                       findAdded(member(tokenizer, "added_tokens"), content),
                       tokenId(member(member(member(tokenizer, "model"), "vocab"), content)),
                       findLine(vocabulary, content), tokenId(member(readObject(directory, "vocab.json"), content))})
      if (id >= 0)
        return id;
  }
  return -1;
}

}  // namespace talc
