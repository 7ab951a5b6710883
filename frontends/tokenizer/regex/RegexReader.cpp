// SPDX-License-Identifier: Apache-2.0
// Characters, escapes, options and intervals of regular expressions.
#include "frontends/tokenizer/regex/RegexReader.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

namespace talc::frontend {

using tokenizer::unlimited;

RegexReader::RegexReader(std::string_view pattern, UnicodeProperties &unicode, std::string &error)
    : characters(decodeUtf8(pattern)), unicode(unicode), error(error) {}

void RegexReader::fail(const std::string &what) {
  if (!hasFailed)
    error = what + " at character " + std::to_string(position + 1) + " is not supported";
  hasFailed = true;
  position = characters.size();
}

char32_t RegexReader::peek(size_t ahead) const {
  return position + ahead < characters.size() ? characters[position + ahead] : 0;
}

char32_t RegexReader::next() {
  return atEnd() ? 0 : characters[position++];
}

bool RegexReader::take(char32_t c) {
  if (atEnd() || characters[position] != c)
    return false;
  ++position;
  return true;
}

bool RegexReader::take(std::string_view ascii) {
  for (size_t i = 0; i < ascii.size(); ++i)
    if (position + i >= characters.size() || peek(i) != static_cast<unsigned char>(ascii[i]))
      return false;
  position += ascii.size();
  return true;
}

bool RegexReader::takeInterval(uint32_t &minimum, uint32_t &maximum) {
  size_t start = position;
  auto isDigit = [&] { return peek() >= '0' && peek() <= '9'; };
  if (!take('{'))
    return false;
  bool hasMinimum = isDigit();
  minimum = hasMinimum ? parseDigits(10, 9) : 0;
  maximum = minimum;
  bool hasComma = take(','), hasMaximum = hasComma && isDigit();
  if (hasComma)
    maximum = hasMaximum ? parseDigits(10, 9) : unlimited;
  if (take('}') && (hasMinimum || hasMaximum))
    return true;
  position = start;
  if (hasFailed)
    position = characters.size();
  return false;
}

void RegexReader::parseOptions(RegexOptions &options) {
  for (bool on = true; !atEnd() && peek() != ':' && peek() != ')';) {
    switch (next()) {
    case '-':
      on = false;
      break;
    case 'i':
      options.ignoreCase = on;
      break;
    case 'm':
      options.dotAll = on;
      break;
    case 'x':
      options.extended = on;
      break;
    default:
      --position;
      return fail("this group");
    }
  }
}

bool RegexReader::skipExtended() {
  char32_t c = peek();
  if (c == '#') {
    while (!atEnd() && peek() != '\n')
      next();
    return true;
  }
  bool space = c == ' ' || (c >= '\t' && c <= '\r');
  if (space)
    next();
  return space;
}

uint32_t RegexReader::parseDigits(uint32_t base, size_t atMost) {
  uint32_t value = 0;
  for (size_t i = 0; i < atMost; ++i) {
    char32_t c = peek(), lower = c | 0x20;
    uint32_t digit = c >= '0' && c <= '9' ? c - '0' : lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : base;
    if (digit >= base)
      break;
    value = value * base + digit;
    next();
  }
  return value;
}

// Reads what follows \x or \u: \xHH, \x{H...}, \uHHHH.
uint32_t RegexReader::parseHex() {
  bool isLong = characters[position - 1] == 'u';
  uint32_t value = 0;
  if (take('{')) {
    value = parseDigits(16, 7);
    if (!take('}'))
      fail("a code point without }");
  } else {
    value = parseDigits(16, isLong ? 4 : 2);
    if (!isLong && value >= 0x80)
      fail("a \\x byte above 7F");
  }
  if (value > 0x10FFFF)
    fail("a code point above 10FFFF");
  return value;
}

CharacterSet RegexReader::parseEscape(bool &isClass) {
  isClass = true;
  char32_t c = next();
  auto category = [&](const char *name, bool negate) {
    CharacterSet set = *unicode.property(name);
    return negate ? set.negated() : set;
  };
  switch (c) {
  case 's':
  case 'S':
    return category("space", c == 'S');
  case 'd':
  case 'D':
    return category("digit", c == 'D');
  case 'w':
  case 'W':
    return category("word", c == 'W');
  case 'h':
  case 'H':
    return category("xdigit", c == 'H');
  case 'p':
  case 'P':
    return parseProperty(c == 'P');
  default:
    break;
  }
  isClass = false;
  switch (c) {
  case 'n':
    return CharacterSet::of('\n');
  case 't':
    return CharacterSet::of('\t');
  case 'r':
    return CharacterSet::of('\r');
  case 'f':
    return CharacterSet::of('\f');
  case 'v':
    return CharacterSet::of('\v');
  case 'a':
    return CharacterSet::of('\a');
  case 'e':
    return CharacterSet::of(0x1B);
  case 'x':
  case 'u':
    return CharacterSet::of(parseHex());
  case '0':
    return CharacterSet::of(parseDigits(8, 2));
  default:
    break;
  }
  bool isAlphanumeric = (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
  if (isAlphanumeric || c == 0) {
    if (c != 0)
      --position;
    fail(c == 0 ? "a \\ without a character" : std::string("\\") + static_cast<char>(c));
  }
  return CharacterSet::of(c);
}

CharacterSet RegexReader::parseProperty(bool negated) {
  size_t start = position;
  if (!take('{'))
    fail("\\p without {");
  if (take('^'))
    negated = !negated;
  std::string name;
  while (!atEnd() && peek() != '}')
    appendCodePoint(name, next());
  if (!take('}'))
    fail("\\p{ without }");
  if (hasFailed)
    return {};
  auto set = unicode.property(name);
  if (!set) {
    position = start;
    fail("\\p{" + name + "}");
    return {};
  }
  return negated ? set->negated() : *set;
}

}  // namespace talc::frontend
