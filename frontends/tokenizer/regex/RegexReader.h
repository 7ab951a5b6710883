// SPDX-License-Identifier: Apache-2.0
// The lexical half of the regex parser: characters, escapes, bracketed sets, options, intervals.
#pragma once

#include "frontends/tokenizer/unicode/UnicodeProperties.h"

#include <string>
#include <string_view>
#include <vector>

namespace talc::frontend {

struct RegexOptions {
  bool ignoreCase = false;  // i
  bool dotAll = false;      // m in Ruby's syntax
  bool extended = false;    // x
};

// After the first failure every method returns something harmless and the reader is at the end.
class RegexReader {
public:
  RegexReader(std::string_view pattern, UnicodeProperties &unicode, std::string &error);

  bool atEnd() const { return position >= characters.size(); }
  bool failed() const { return hasFailed; }
  // `what` is what is wrong or not supported, for the message.
  void fail(const std::string &what);

  char32_t peek(size_t ahead = 0) const;  // 0 at the end
  char32_t next();
  bool take(char32_t c);
  bool take(std::string_view ascii);

  // {m}, {m,}, {,n}, {m,n}; false without consuming input if it is not an interval (then { is a literal).
  bool takeInterval(uint32_t &minimum, uint32_t &maximum);
  // Options behind (? up to : or ).
  void parseOptions(RegexOptions &options);
  // Skips a space or comment of (?x).
  bool skipExtended();
  // Reads what follows a backslash: one character, or a class such as \s or \p{L}.
  CharacterSet parseEscape(bool &isClass);
  // Reads what follows [.
  CharacterSet parseBracket(const RegexOptions &options);

private:
  std::vector<char32_t> characters;
  size_t position = 0;
  UnicodeProperties &unicode;
  std::string &error;
  bool hasFailed = false;
  uint32_t bracketDepth = 0;

  CharacterSet parseProperty(bool negated);
  CharacterSet parsePosix();
  CharacterSet parseOperand(const RegexOptions &options, bool first);
  CharacterSet parseRange();
  CharacterSet parseBracketItem(bool &isClass);
  uint32_t parseDigits(uint32_t base, size_t atMost);
  uint32_t parseHex();
};

}  // namespace talc::frontend
