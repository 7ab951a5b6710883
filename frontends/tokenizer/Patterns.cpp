// SPDX-License-Identifier: Apache-2.0
// The pattern objects of tokenizer.json.
#include "frontends/tokenizer/PipelineStages.h"
#include "frontends/tokenizer/RegexCompiler.h"

namespace talc::frontend {

uint32_t compileRegexAt(CompileContext &context, std::string_view regex, const std::string &path) {
  std::string what;
  if (auto pattern = compileRegex(regex, context.unicode, context.section, what))
    return *pattern;
  context.errors.fail(TokenizerError::Pattern, path, "in pattern '" + std::string(regex) + "', " + what);
  return tokenizer::none;
}

uint32_t compilePattern(CompileContext &context, const Json &json, const std::string &path) {
  JsonFields fields(json, path, context.errors);
  if (auto text = fields.optionalText("String"))
    return compileLiteral(*text, context.section);
  if (auto regex = fields.optionalText("Regex"))
    return compileRegexAt(context, *regex, path + ".Regex");
  context.errors.fail(TokenizerError::WrongField, path, "expected {\"String\": ...} or {\"Regex\": ...}");
  return tokenizer::none;
}

}  // namespace talc::frontend
