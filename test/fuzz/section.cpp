// SPDX-License-Identifier: Apache-2.0
// The tokenizer section of a compiled model: one that is correct, with changed bytes. The first byte of an input says
// which one.
#include "frontends/tokenizer/TokenizerCompiler.h"
#include "runtime/tokenizer/Tokenizer.h"
#include "test/fuzz/Patches.h"

#include <cstdio>
#include <cstdlib>

static const char *const descriptions[] = {
    R"({"model": {"type": "WordLevel", "unk_token": "a", "vocab": {"a": 0, "Once": 1, "upon": 2}},
        "pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\s+|[a-m]*|\\d"}, "behavior": "Isolated"},
        "normalizer": {"type": "Replace", "pattern": {"String": "ti"}, "content": "it"},
        "added_tokens": [{"id": 3, "content": "<s>", "special": true}]})",
    R"({"model": {"type": "BPE", "vocab": {"O": 0, "n": 1, "c": 2, "e": 3, "ce": 4, "nce": 5}, "merges": ["c e", "n ce"]},
        "decoder": {"type": "Replace", "pattern": {"String": "e"}, "content": "é"}})",
    R"({"model": {"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0, "on": 1, "##ce": 2, "a": 3}},
        "pre_tokenizer": {"type": "WhitespaceSplit"}, "decoder": {"type": "WordPiece", "prefix": "##", "cleanup": true},
        "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "[UNK]", "type_id": 0}},
          {"Sequence": {"id": "A", "type_id": 0}}], "pair": [{"Sequence": {"id": "A", "type_id": 0}},
          {"Sequence": {"id": "B", "type_id": 1}}], "special_tokens": {"[UNK]": {"id": "[UNK]", "ids": [0],
          "tokens": ["[UNK]"]}}}})",
    R"({"model": {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["▁", -1], ["a", -2], ["▁time", -3]]},
        "pre_tokenizer": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"},
        "decoder": {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always"}})"};

static std::vector<std::vector<uint8_t>> compileAll() {
  std::vector<std::vector<uint8_t>> sections;
  for (const char *description : descriptions) {
    std::string error;
    auto section = talc::frontend::compileTokenizer(description, "tokenizer.json", error);
    if (!section) {
      fprintf(stderr, "%s\n", error.c_str());
      abort();
    }
    sections.push_back(std::move(*section));
  }
  return sections;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const std::vector<std::vector<uint8_t>> sections = compileAll();
  if (size == 0)
    return 0;
  const std::vector<uint8_t> &correct = sections[bytes[0] % sections.size()];
  std::vector<uint64_t> section = talc::fuzz::patched(correct, bytes + 1, size - 1);
  std::unique_ptr<talc::Tokenizer> tokenizer;
  std::string error;
  std::vector<int32_t> ids = {0, 1, 2, 3, 200, 70000};
  if (!talc::Tokenizer::open(reinterpret_cast<const unsigned char *>(section.data()), correct.size(), tokenizer, error))
    return 0;
  tokenizer->decode(ids.data(), ids.size());
  tokenizer->encode("Once upon a time, l\xC3\xA9 \xE4\xBD\xA0 12 <s>", ids, error);
  return 0;
}
