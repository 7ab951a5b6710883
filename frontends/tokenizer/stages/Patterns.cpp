// SPDX-License-Identifier: Apache-2.0
// The pattern objects of tokenizer.json.
#include "frontends/tokenizer/regex/RegexCompiler.h"
#include "frontends/tokenizer/stages/PipelineStages.h"

namespace talc::frontend {

static constexpr size_t maxPatternBytes = 65536, maxAllBytes = 1 << 20, maxInstructions = 1 << 20;

// Room for one more pattern: all together they take a bounded time to compile and a bounded size.
static bool admit(CompileContext &context, std::string_view pattern, const std::string &path) {
  if (pattern.size() > maxPatternBytes) {
    context.errors.fail(TokenizerError::TooLarge, path, "the pattern is longer than 65536 bytes");
    return false;
  }
  context.patternBytes += pattern.size();
  if (context.patternBytes <= maxAllBytes && context.section.instructionCount() <= maxInstructions)
    return true;
  context.errors.fail(TokenizerError::TooLarge, path,
                      "the patterns up to here have more than 1048576 bytes or become more than 1048576 instructions");
  return false;
}

uint32_t compileRegexAt(CompileContext &context, std::string_view regex, const std::string &path) {
  std::string what;
  if (!admit(context, regex, path))
    return tokenizer::none;
  if (auto pattern = compileRegex(regex, context.unicode, context.section, what))
    return *pattern;
  context.errors.fail(TokenizerError::Pattern, path, "in pattern '" + shortened(regex, 200) + "', " + what);
  return tokenizer::none;
}

uint32_t compilePattern(CompileContext &context, const Json &json, const std::string &path) {
  JsonFields fields(json, path, context.errors);
  if (auto text = fields.optionalText("String"))
    return admit(context, *text, path) ? compileLiteral(*text, context.section) : tokenizer::none;
  if (auto regex = fields.optionalText("Regex"))
    return compileRegexAt(context, *regex, path + ".Regex");
  context.errors.fail(TokenizerError::WrongField, path, "expected {\"String\": ...} or {\"Regex\": ...}");
  return tokenizer::none;
}

}  // namespace talc::frontend
