// SPDX-License-Identifier: Apache-2.0
// An importance matrix of llama.cpp, in its older format or as GGUF.
#include "frontends/gguf/Gguf.h"
#include "frontends/gguf/GgufArchitectures.h"
#include "test/fuzz/InputFile.h"

// Only lookups need the names, with all families of models behind them.
std::vector<talc::GgufTensorName> talc::ggufTensorNames(const std::string &) {
  return {};
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  talc::fuzz::InputFile file(talc::fuzz::inputText(bytes, size));
  talc::Diagnostics diagnostics;
  if (file)
    talc::readImportance(file.path(), diagnostics);
  return 0;
}
