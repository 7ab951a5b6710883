// SPDX-License-Identifier: Apache-2.0
// Translates expressions of Python to extended ones of POSIX, as far as names of modules need it.
#include "frontends/huggingface/quantized/ModulePattern.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSwitch.h"

#include <cctype>

namespace talc {

// The meaning of an escaped character outside brackets; empty if talc does not know it.
static std::string escaped(char c) {
  if (std::ispunct(static_cast<unsigned char>(c)))
    return {'\\', c};
  return llvm::StringSwitch<std::string>(llvm::StringRef(&c, 1))
      .Case("d", "[0-9]")
      .Case("D", "[^0-9]")
      .Case("w", "[A-Za-z0-9_]")
      .Case("W", "[^A-Za-z0-9_]")
      .Default("");
}

// The length of a class in brackets at the beginning; 0 if it has escapes or no end.
static size_t bracketLength(llvm::StringRef text) {
  size_t end = text.find(']', text.starts_with("[^") ? 3 : 2);
  return end == llvm::StringRef::npos || text.take_front(end).contains('\\') ? 0 : end + 1;
}

// Whether a match exists does not depend on how greedy a repetition is.
static std::optional<std::string> translate(llvm::StringRef text) {
  constexpr size_t mostCounts = 2;
  std::string result;
  if (text.count('{') > mostCounts)
    return std::nullopt;
  while (!text.empty()) {
    char c = text.front();
    if (size_t length = c == '[' ? bracketLength(text) : 1; length != 1) {
      if (length == 0)
        return std::nullopt;
      result += text.take_front(length);
      text = text.drop_front(length);
      continue;
    }
    text = text.drop_front();
    if (c == '\\') {
      std::string meaning = text.empty() ? "" : escaped(text.front());
      if (meaning.empty())
        return std::nullopt;
      result += meaning;
      text = text.drop_front();
      continue;
    }
    result += c;
    if (c == '(' && text.consume_front("?") && !text.consume_front(":"))
      return std::nullopt;
    if (c == '*' || c == '+' || c == '?' || c == '}')
      text.consume_front("?");
  }
  return result;
}

std::optional<ModulePattern> ModulePattern::parse(std::string_view expression) {
  constexpr size_t longest = 512;
  auto extended = expression.size() <= longest ? translate(expression) : std::nullopt;
  if (!extended)
    return std::nullopt;
  ModulePattern pattern("^(" + *extended + ")");
  std::string problem;
  if (!pattern.regex.isValid(problem))
    return std::nullopt;
  return pattern;
}

}  // namespace talc
