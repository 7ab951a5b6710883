// SPDX-License-Identifier: Apache-2.0
// Bracketed sets: [a-z\s[:alpha:]], nested sets, negation, && intersections.
#include "frontends/tokenizer/regex/RegexReader.h"

namespace talc::frontend {

namespace {
constexpr uint32_t maxBracketDepth = 60;
}

CharacterSet RegexReader::parseBracket(const RegexOptions &options) {
  if (++bracketDepth > maxBracketDepth)
    fail("sets nested deeper than 60");
  bool negated = take('^');
  CharacterSet set = parseOperand(options, true);
  while (!hasFailed && take("&&"))
    set = set.intersected(parseOperand(options, false));
  take(']');
  --bracketDepth;
  // Sets inside of sets count as they are written.
  if (options.ignoreCase && bracketDepth == 0)
    unicode.addCaseVariants(set);
  return negated ? set.negated() : set;
}

// Up to && or ]; a ] at the very beginning is a character.
CharacterSet RegexReader::parseOperand(const RegexOptions &options, bool first) {
  CharacterSet set;
  for (; !hasFailed && (first || peek() != ']'); first = false) {
    if (atEnd()) {
      fail("a [ without ]");
      break;
    }
    if (peek() == '&' && peek(1) == '&')
      break;
    if (take('['))
      set.add(peek() == ':' ? parsePosix() : parseBracket(options));
    else
      set.add(parseRange());
  }
  return set;
}

// a, \s or a-z; in a-\s the - is a character.
CharacterSet RegexReader::parseRange() {
  bool isClass = false;
  CharacterSet set = parseBracketItem(isClass);
  bool isRange = !isClass && peek() == '-' && peek(1) != ']' && peek(1) != 0;
  if (!isRange)
    return set;
  next();
  bool endIsClass = peek() == '[';
  CharacterSet end = endIsClass ? CharacterSet() : parseBracketItem(endIsClass);
  if (hasFailed)
    return set;
  if (endIsClass) {
    set.add('-', '-'), set.add(end);
    return set;
  }
  uint32_t low = set.ranges()[0].first, high = end.ranges()[0].first;
  if (low <= high)
    return {{low, high}};
  fail("a range whose bounds are reversed");
  return set;
}

CharacterSet RegexReader::parseBracketItem(bool &isClass) {
  isClass = false;
  if (!take('\\'))
    return CharacterSet::of(next());
  if (take('b'))
    return CharacterSet::of('\b');
  return parseEscape(isClass);
}

// Reads [:name:] or [:^name:], behind its first character.
CharacterSet RegexReader::parsePosix() {
  size_t start = position;
  next();
  bool negated = take('^');
  std::string name;
  while (!atEnd() && peek() >= 'a' && peek() <= 'z')
    name += static_cast<char>(next());
  // Symbols are punctuation here, but not in \p{Punct}.
  auto set = unicode.property(name == "punct" ? "P" : name);
  if (name == "punct")
    set->add(*unicode.category("S"));
  if (!take(":]") || !set) {
    position = start;
    fail("[:" + name + ":]");
    return {};
  }
  return negated ? set->negated() : *set;
}

}  // namespace talc::frontend
