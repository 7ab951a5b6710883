// SPDX-License-Identifier: Apache-2.0
// A recursive-descent parser: choice, sequence, repetition, atom; bracketed sets are in RegexSets.cpp.
#include "frontends/tokenizer/regex/RegexCompiler.h"
#include "frontends/tokenizer/regex/RegexReader.h"

namespace talc::frontend {

using tokenizer::Match;
using tokenizer::unlimited;

namespace {

constexpr uint32_t maxDepth = 60;  // below tokenizer::maxPatternDepth
constexpr uint32_t maxRepetition = 100000;
constexpr uint32_t maxSuffixes = 8;  // with maxDepth, what bounds the depth of the tree

class Parser {
public:
  Parser(std::string_view pattern, UnicodeProperties &unicode, SectionBuilder &section, std::string &error)
      : reader(pattern, unicode, error), unicode(unicode), section(section) {}

  std::optional<RegexNode> run() {
    RegexNode node = parseChoice();
    if (!reader.atEnd())
      reader.fail("an unmatched )");
    if (reader.failed())
      return std::nullopt;
    return node;
  }

private:
  RegexReader reader;
  UnicodeProperties &unicode;
  SectionBuilder &section;
  uint32_t depth = 0;
  RegexOptions options;

  // a|b|c up to a closing parenthesis or the end.
  RegexNode parseChoice() {
    if (++depth > maxDepth)
      reader.fail("groups nested deeper than 60");
    RegexOptions outer = options;
    RegexNode choice(RegexNode::Choice);
    do
      choice.children.push_back(parseSequence());
    while (!reader.failed() && reader.take('|'));
    options = outer;
    --depth;
    if (choice.children.size() == 1)
      return std::move(choice.children[0]);
    return choice;
  }

  RegexNode parseSequence() {
    RegexNode sequence(RegexNode::Sequence);
    while (!reader.failed() && !reader.atEnd() && reader.peek() != '|' && reader.peek() != ')') {
      if (options.extended && reader.skipExtended())
        continue;
      sequence.children.push_back(parseRepetition());
    }
    if (sequence.children.size() == 1)
      return std::move(sequence.children[0]);
    return sequence;
  }

  RegexNode parseRepetition() {
    RegexNode node = parseAtom();
    for (uint32_t suffixes = 0; !reader.failed(); ++suffixes) {
      uint32_t minimum = 0, maximum = unlimited;
      bool counted = false;
      if (reader.take('*')) {
      } else if (reader.take('+')) {
        minimum = 1;
      } else if (reader.take('?')) {
        maximum = 1;
      } else if (reader.takeInterval(minimum, maximum)) {
        counted = true;
      } else {
        break;
      }
      if (suffixes == maxSuffixes)
        reader.fail("more than 8 repetitions of one thing");
      node = repeat(std::move(node), minimum, maximum, counted);
    }
    return node;
  }

  // A suffix changes the mode, but Ruby reads a{2}? as (?:a{2})? and a{1,2}+ as (?:a{1,2})+.
  RegexNode repeat(RegexNode node, uint32_t minimum, uint32_t maximum, bool counted) {
    if (node.kind == RegexNode::Look || node.kind == RegexNode::Assertion)
      reader.fail("a repeated assertion");
    if (minimum > maxRepetition || (maximum != unlimited && maximum > maxRepetition))
      reader.fail("a repetition of more than 100000");
    if (minimum > maximum)
      reader.fail("a repetition whose bounds are reversed");
    RegexNode result(RegexNode::Repeat);
    result.minimum = minimum;
    result.maximum = maximum;
    bool fixed = counted && minimum == maximum;
    if (!fixed && reader.take('?'))
      result.mode = RegexNode::Lazy;
    if (!counted && result.mode == RegexNode::Greedy && reader.take('+'))
      result.mode = RegexNode::Possessive;
    result.children.push_back(std::move(node));
    return result;
  }

  RegexNode parseAtom() {
    char32_t c = reader.next();
    switch (c) {
    case '(':
      return parseGroup();
    case '[':
      return setNode(reader.parseBracket(options));
    case '.': {
      CharacterSet newline = CharacterSet::of('\n');
      return setNode(options.dotAll ? CharacterSet{{0, 0x10FFFF}} : newline.negated());
    }
    case '^':
      return assertion(Match::LineBegin);
    case '$':
      return assertion(Match::LineEnd);
    case '\\':
      return parseEscape();
    case '*':
    case '+':
    case '?':
      reader.fail("a repetition of nothing");
      return RegexNode(RegexNode::Sequence);
    default:
      return literal(c);
    }
  }

  RegexNode setNode(const CharacterSet &set) {
    RegexNode node(RegexNode::Set);
    node.set = section.addSet(set);
    return node;
  }

  RegexNode literal(char32_t c) {
    CharacterSet set = CharacterSet::of(c);
    if (options.ignoreCase)
      unicode.addCaseVariants(set);
    return setNode(set);
  }

  RegexNode assertion(Match match) {
    RegexNode node(RegexNode::Assertion);
    node.match = match;
    if (match == Match::WordBoundary || match == Match::NotWordBoundary)
      node.set = section.addSet(*unicode.property("word"));
    return node;
  }

  RegexNode parseEscape() {
    switch (reader.peek()) {
    case 'A':
      reader.next();
      return assertion(Match::TextBegin);
    case 'z':
      reader.next();
      return assertion(Match::TextEnd);
    case 'Z':
      reader.next();
      return assertion(Match::TextEndNewline);
    case 'b':
      reader.next();
      return assertion(Match::WordBoundary);
    case 'B':
      reader.next();
      return assertion(Match::NotWordBoundary);
    case 'R':
      reader.next();
      return lineBreak();
    default:
      break;
    }
    bool isClass = false;
    CharacterSet set = reader.parseEscape(isClass);
    if (!isClass && options.ignoreCase)
      unicode.addCaseVariants(set);
    return setNode(set);
  }

  // \R is (?>\r\n|[\n-\r\x85\u2028\u2029]).
  RegexNode lineBreak() {
    RegexNode atomic(RegexNode::Atomic), choice(RegexNode::Choice), pair(RegexNode::Sequence);
    pair.children = {setNode(CharacterSet::of('\r')), setNode(CharacterSet::of('\n'))};
    choice.children = {std::move(pair), setNode({{'\n', '\r'}, {0x85, 0x85}, {0x2028, 0x2029}})};
    atomic.children.push_back(std::move(choice));
    return atomic;
  }

  RegexNode parseGroup() {
    RegexOptions outer = options;
    RegexNode node = reader.take('?') ? parseSpecialGroup() : closeGroup(parseChoice());
    options = outer;
    return node;
  }

  RegexNode closeGroup(RegexNode node) {
    if (!reader.take(')'))
      reader.fail("a group without )");
    return node;
  }

  RegexNode parseSpecialGroup() {
    if (reader.take(':'))
      return closeGroup(parseChoice());
    if (reader.take('='))
      return look(Match::Ahead);
    if (reader.take('!'))
      return look(Match::NotAhead);
    if (reader.take("<="))
      return look(Match::Behind);
    if (reader.take("<!"))
      return look(Match::NotBehind);
    if (reader.take('>')) {
      RegexNode node(RegexNode::Atomic);
      node.children.push_back(closeGroup(parseChoice()));
      return node;
    }
    if (reader.take('#')) {
      while (!reader.atEnd() && reader.peek() != ')')
        reader.next();
      return closeGroup(RegexNode(RegexNode::Sequence));
    }
    if (reader.take('<')) {  // a named group: its name does not matter
      while (!reader.atEnd() && reader.peek() != '>')
        reader.next();
      if (!reader.take('>'))
        reader.fail("a group name without >");
      return closeGroup(parseChoice());
    }
    reader.parseOptions(options);
    if (reader.take(':'))
      return closeGroup(parseChoice());
    // (?i) holds up to the end of the enclosing group.
    if (!reader.take(')'))
      reader.fail("an unknown group");
    return parseChoice();
  }

  RegexNode look(Match match) {
    RegexNode node(RegexNode::Look);
    node.match = match;
    node.children.push_back(closeGroup(parseChoice()));
    return node;
  }
};

}  // namespace

std::optional<RegexNode> parseRegex(std::string_view pattern, UnicodeProperties &unicode, SectionBuilder &section,
                                    std::string &error) {
  return Parser(pattern, unicode, section, error).run();
}

}  // namespace talc::frontend
