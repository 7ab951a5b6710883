// SPDX-License-Identifier: Apache-2.0
// A regular expression and, behind a NUL, a text that it splits.
#include "frontends/tokenizer/TokenizerCompiler.h"
#include "runtime/tokenizer/Tokenizer.h"

#include <nlohmann/json.hpp>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  using Json = nlohmann::json;
  std::string_view input(reinterpret_cast<const char *>(bytes), size);
  size_t middle = std::min(input.find('\0'), input.size());
  std::string pattern(input.substr(0, middle)), text(input.substr(std::min(middle + 1, input.size()))), error;
  Json json = {{"pre_tokenizer", {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}}},
               {"model", {{"type", "WordLevel"}, {"unk_token", "a"}, {"vocab", {{"a", 0}}}}}};
  std::string file = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  auto section = talc::frontend::compileTokenizer(file, "tokenizer.json", error);
  std::unique_ptr<talc::Tokenizer> tokenizer;
  std::vector<int32_t> ids;
  if (section && talc::Tokenizer::open(section->data(), section->size(), tokenizer, error))
    tokenizer->encode(text, ids, error);
  return 0;
}
