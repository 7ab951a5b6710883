// SPDX-License-Identifier: Apache-2.0
// The table of frontends.
#include "frontends/Frontends.h"

#include "frontends/gguf/Gguf.h"
#include "frontends/huggingface/HuggingFace.h"

namespace talc {

// GGUF files have one list of settings, of which there is nothing to warn.
static std::optional<std::vector<uint8_t>> compileGguf(const std::string &model, std::string &error,
                                                       std::vector<std::string> * /*warnings*/) {
  return compileGgufTokenizer(model, error);
}

constexpr Frontend table[] = {
    {"a model directory", isHuggingFace, importHuggingFace, compileHuggingFaceTokenizer, isHuggingFaceFile},
    {"a GGUF file", isGguf, importGguf, compileGguf, isGgufFile},
};

llvm::ArrayRef<Frontend> frontends() {
  return table;
}

const Frontend *findFrontend(const std::string &model) {
  for (const Frontend &frontend : table)
    if (frontend.recognizes(model))
      return &frontend;
  return nullptr;
}

std::string readableModels() {
  std::string result;
  for (const Frontend &frontend : table)
    result += (result.empty() ? "" : ", ") + std::string(frontend.reads);
  return result;
}

}  // namespace talc
