// SPDX-License-Identifier: Apache-2.0
// Bracketed sets: [a-z\s[:alpha:]], nested sets, negation, && intersections.
#include "frontends/huggingface/tokenizer/RegexReader.h"

namespace talc::huggingface {

namespace {
constexpr uint32_t maxBracketDepth = 60;
}

CharacterSet RegexReader::parseBracket(const RegexOptions &options) {
  if (++bracketDepth > maxBracketDepth)
    fail("sets nested deeper than 60");
  bool negated = take('^');
  CharacterSet set, left;
  bool intersects = false;
  auto closeOperand = [&] {
    if (options.ignoreCase)
      unicode.addCaseVariants(set);
    left = intersects ? left.intersected(set) : set;
    set = {};
  };
  for (bool first = true; !hasFailed && (first || peek() != ']'); first = false) {
    if (atEnd()) {
      fail("a [ without ]");
      break;
    }
    if (take("&&")) {
      closeOperand();
      intersects = true;
      continue;
    }
    if (take('[')) {
      set.add(peek() == ':' ? parsePosix() : parseBracket(options));
      continue;
    }
    bool isClass = false;
    CharacterSet item = parseBracketItem(isClass);
    bool isRange = !isClass && peek() == '-' && peek(1) != ']' && peek(1) != 0;
    if (!isRange) {
      set.add(item);
      continue;
    }
    next();
    bool endIsClass = peek() == '[';
    CharacterSet end = endIsClass ? CharacterSet() : parseBracketItem(endIsClass);
    if (hasFailed)
      break;
    if (endIsClass) {  // [a-\s]: the - is a literal
      set.add(item), set.add('-', '-'), set.add(end);
      continue;
    }
    uint32_t low = item.ranges()[0].first, high = end.ranges()[0].first;
    if (low > high)
      fail("a range whose bounds are reversed");
    set.add(low, high);
  }
  closeOperand();
  take(']');
  --bracketDepth;
  return negated ? left.negated() : left;
}

CharacterSet RegexReader::parseBracketItem(bool &isClass) {
  isClass = false;
  if (!take('\\'))
    return CharacterSet::of(next());
  if (take('b'))
    return CharacterSet::of('\b');
  return parseEscape(isClass);
}

// Behind [ with : next: [:name:] or [:^name:].
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

}  // namespace talc::huggingface
