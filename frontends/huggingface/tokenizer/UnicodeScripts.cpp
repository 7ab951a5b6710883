// SPDX-License-Identifier: Apache-2.0
// Script property.
#include "frontends/huggingface/tokenizer/PipelineStages.h"
namespace talc::huggingface {
std::optional<CharacterSet> scriptCharacters(const std::string &) {
  return std::nullopt;
}
void addScriptTable(CompileContext &context) {
  context.errors.fail(TokenizerError::Unsupported, "", "scripts");
}
}  // namespace talc::huggingface
