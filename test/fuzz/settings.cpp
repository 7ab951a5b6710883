// SPDX-License-Identifier: Apache-2.0
// A tokenizer_config.json beside a tokenizer.json.
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"
#include "test/fuzz/InputFile.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const talc::fuzz::InputDirectory directory;
  directory.write("tokenizer.json", R"({"model": {"type": "BPE", "vocab": {"<s>": 0, "a": 1, "b": 2}, "merges": []}})");
  directory.write("tokenizer_config.json", talc::fuzz::inputText(bytes, size));
  std::string error;
  std::vector<std::string> warnings;
  talc::frontend::compileTokenizerDirectory(directory.path(), error, &warnings);
  return 0;
}
