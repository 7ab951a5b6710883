// SPDX-License-Identifier: Apache-2.0
// A tokenizer.json: compiled, opened, and used both ways.
#include "runtime/tokenizer/Tokenizer.h"
#include "frontends/tokenizer/TokenizerCompiler.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  std::string error;
  std::string_view file(reinterpret_cast<const char *>(bytes), size);
  auto section = talc::frontend::compileTokenizer(file, "tokenizer.json", error);
  std::unique_ptr<talc::Tokenizer> tokenizer;
  std::vector<int32_t> ids;
  if (!section || !talc::Tokenizer::open(section->data(), section->size(), tokenizer, error))
    return 0;
  tokenizer->encode("Once upon a time, l\xC3\xA9 \xE4\xBD\xA0 12 <s>", ids, error);
  tokenizer->decode(ids.data(), ids.size());
  return 0;
}
