// SPDX-License-Identifier: Apache-2.0
// The table of texts, and the models in which two of them exclude each other.
#include "frontends/gguf/GgufTokenizer.h"

#include <algorithm>
#include <map>

namespace talc::frontend {

namespace {

enum class Role { End, Infill, Shown };

struct KnownToken {
  const char *text;
  Role role;
  const char *key = nullptr;  // names the token that has this role; then its text counts for nothing
};

constexpr const char *padding = "tokenizer.ggml.fim_pad_token_id";
constexpr const char *repository = "tokenizer.ggml.fim_rep_token_id";
constexpr const char *file = "tokenizer.ggml.fim_sep_token_id";
constexpr const char *prefix = "tokenizer.ggml.fim_pre_token_id";
constexpr const char *suffix = "tokenizer.ggml.fim_suf_token_id";
constexpr const char *middle = "tokenizer.ggml.fim_mid_token_id";

constexpr KnownToken knownTokens[] = {
    {"<|eot_id|>", Role::End},
    {"<|im_end|>", Role::End},
    {"<|end|>", Role::End},
    {"<|return|>", Role::End},
    {"<|call|>", Role::End},
    {"<|calls|>", Role::End},
    {"<|flush|>", Role::End},
    {"<end_of_turn>", Role::End},
    {"<|endoftext|>", Role::End},
    {"<|end_of_text|>", Role::End},
    {"</s>", Role::End},
    {"<|eom_id|>", Role::End},
    {"<EOT>", Role::End},
    {"_<EOT>", Role::End},
    {"[EOT]", Role::End},
    {"[EOS]", Role::End},
    {"<end_of_utterance>", Role::End},
    {"<eos>", Role::End},
    {"<turn|>", Role::End},
    {"<|tool_response>", Role::End},
    {"<\uff5cend\u2581of\u2581sentence\uff5c>", Role::End},
    {"[e~[", Role::End},
    {"<|fim_pad|>", Role::End, padding},
    {"<fim-pad>", Role::End, padding},
    {"<fim_pad>", Role::End, padding},
    {"<PAD>", Role::End, padding},
    {"[PAD]", Role::End, padding},
    {"<|fim_repo|>", Role::End, repository},
    {"<|repo_name|>", Role::End, repository},
    {"<fim-repo>", Role::End, repository},
    {"<REPO>", Role::End, repository},
    {"<reponame>", Role::End, repository},
    {"<|file_sep|>", Role::End, file},
    {"<|fim_prefix|>", Role::Infill, prefix},
    {"<fim-prefix>", Role::Infill, prefix},
    {"<fim_prefix>", Role::Infill, prefix},
    {"<\uff5cfim\u2581begin\uff5c>", Role::Infill, prefix},
    {"<PRE>", Role::Infill, prefix},
    {"\u2581<PRE>", Role::Infill, prefix},
    {"<|code_prefix|>", Role::Infill, prefix},
    {"<|prefix|>", Role::Infill, prefix},
    {"<|fim_suffix|>", Role::Infill, suffix},
    {"<fim-suffix>", Role::Infill, suffix},
    {"<fim_suffix>", Role::Infill, suffix},
    {"<\uff5cfim\u2581hole\uff5c>", Role::Infill, suffix},
    {"<SUF>", Role::Infill, suffix},
    {"\u2581<SUF>", Role::Infill, suffix},
    {"<|code_suffix|>", Role::Infill, suffix},
    {"<|suffix|>", Role::Infill, suffix},
    {"<|fim_middle|>", Role::Infill, middle},
    {"<fim-middle>", Role::Infill, middle},
    {"<fim_middle>", Role::Infill, middle},
    {"<\uff5cfim\u2581end\uff5c>", Role::Infill, middle},
    {"<MID>", Role::Infill, middle},
    {"\u2581<MID>", Role::Infill, middle},
    {"<|code_middle|>", Role::Infill, middle},
    {"<|middle|>", Role::Infill, middle},
    {"<|channel|>", Role::Shown},
    {"<|message|>", Role::Shown},
    {"<|start|>", Role::Shown},
    {"<|constrain|>", Role::Shown},
};

using Found = std::map<std::string, uint32_t>;  // known texts with their ids

Found findKnown(const GgufModel &model) {
  const nlohmann::json *tokens = model.find("tokenizer.ggml.tokens");
  Found found;
  for (size_t id = 0; tokens && tokens->is_array() && id < tokens->size(); ++id) {
    const nlohmann::json &token = (*tokens)[id];
    if (!token.is_string())
      return {};
    const std::string &text = token.get_ref<const std::string &>();
    if (text.size() < 40 && std::any_of(std::begin(knownTokens), std::end(knownTokens),
                                        [&](const KnownToken &known) { return text == known.text; }))
      found.emplace(text, static_cast<uint32_t>(id));
  }
  return found;
}

// If <|call|> or the like ends turns, <|end|> only ends a part of one; gpt-oss and Solar have both.
bool endsParts(const Found &found) {
  bool calls = found.count("<|call|>") || found.count("<|calls|>");
  return calls && (found.count("<|return|>") || found.count("<|flush|>"));
}

}  // namespace

TokenRoles rolesByText(const GgufModel &model) {
  Found found = findKnown(model);
  TokenRoles roles;
  if (found.count("<|tool_response>"))
    found.erase("</s>");  // an ordinary word of Gemma 4
  if (auto end = found.find("<|end|>"); end != found.end() && endsParts(found)) {
    roles.shown.push_back(end->second);
    found.erase(end);
  }
  for (const KnownToken &known : knownTokens) {
    auto at = found.find(known.text);
    if (at == found.end() || (known.key && model.find(known.key)))
      continue;
    if (known.role == Role::End)
      roles.ends.push_back(at->second);
    (known.role == Role::Shown ? roles.shown : roles.control).push_back(at->second);
  }
  std::sort(roles.ends.begin(), roles.ends.end());
  return roles;
}

}  // namespace talc::frontend
