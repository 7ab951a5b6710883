// SPDX-License-Identifier: Apache-2.0
// Special tokens that take the spaces beside them: what tokenizer.json says with lstrip and rstrip, and GGUF leaves to
// the names of models and pre-tokenizers. As in llama.cpp, and for RoBERTa and ModernBERT as in their tokenizer.json.
#include "frontends/gguf/GgufTokenizer.h"

#include <algorithm>

namespace talc::frontend {

namespace {

// "Phi-3 mini", "phi3", "Phi 3.5 Mini Instruct".
bool isPhi3(const std::string &modelName) {
  std::string joined;
  for (char c : modelName)
    if (c != '-' && c != '_' && c != ' ')
      joined += c;
  return joined.find("phi3") != std::string::npos;
}

struct MaskRule {
  const char *pre, *architecture, *mask;  // null: any
};

constexpr MaskRule maskRules[] = {
    {"jina-v2-de", nullptr, "<mask>"},  {"jina-v2-es", nullptr, "<mask>"},     {"jina-v2-code", nullptr, "<mask>"},
    {"roberta-bpe", nullptr, "<mask>"}, {nullptr, "nomic-bert-moe", "<mask>"}, {nullptr, "jina-bert-v3", "<mask>"},
    {"modern-bert", nullptr, "[MASK]"}, {nullptr, "modern-bert", "[MASK]"},
};

}  // namespace

void setStrips(const GgufTokenizer &tokenizer, AddedToken &token) {
  const std::string pre = tokenizer.text("pre"), architecture = tokenizer.architecture();
  token.stripsLeft = std::any_of(std::begin(maskRules), std::end(maskRules), [&](const MaskRule &rule) {
    return token.content == rule.mask && (rule.pre ? pre == rule.pre : architecture == rule.architecture);
  });
  if (isPhi3(tokenizer.modelName()))
    token.stripsRight = token.content != "<unk>" && token.content != "<s>" && token.content != "<|endoftext|>";
}

}  // namespace talc::frontend
