// SPDX-License-Identifier: Apache-2.0
// Code generation for regular expressions. Repeated sets, the bulk of all tokenizer patterns, become one Span:
//
//   ` ?\p{L}+|\s`   ->   0 Split 1, 4   1 Span ' ' 0..1   2 Span L 1..   3 Jump 5   4 Set space   5 Accept
#include "frontends/tokenizer/regex/RegexCompiler.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

namespace talc::frontend {

using namespace tokenizer;

namespace {

constexpr size_t maxInstructions = 65536;
constexpr size_t maxVisits = 1000000;  // of nodes: bounds the work where repeated groups hold nothing

class Compiler {
public:
  Compiler(SectionBuilder &section, std::string &error) : section(section), error(error) {}

  std::optional<uint32_t> run(const RegexNode &root) {
    emitNode(root);
    emit(Match::Accept);
    if (failed)
      return std::nullopt;
    return section.addPattern(code);
  }

private:
  SectionBuilder &section;
  std::string &error;
  std::vector<Instruction> code;
  bool failed = false;
  size_t visits = 0;

  void fail(const char *what) {
    if (!failed)
      error = std::string(what) + " is not supported";
    failed = true;
  }

  void visit() {
    if (++visits > maxVisits)
      fail("a pattern whose repetitions take more than 1000000 steps to translate");
  }

  uint32_t here() const { return static_cast<uint32_t>(code.size()); }

  uint32_t emit(Match match, uint32_t x = 0, uint32_t y = 0, uint32_t z = 0) {
    if (code.size() >= maxInstructions)
      fail("a pattern of more than 65536 instructions");
    if (!failed)
      code.push_back({static_cast<uint32_t>(match), x, y, z});
    return failed ? 0 : here() - 1;
  }

  void emitNode(const RegexNode &node) {
    visit();
    if (failed)
      return;
    switch (node.kind) {
    case RegexNode::Set:
      emit(Match::Set, node.set);
      return;
    case RegexNode::Sequence:
      for (const RegexNode &child : node.children)
        emitNode(child);
      return;
    case RegexNode::Choice:
      return emitChoice(node);
    case RegexNode::Repeat:
      return emitRepeat(node, node.mode);
    case RegexNode::Look:
      return emitLook(node);
    case RegexNode::Atomic:
      return emitAtomic(node.children[0]);
    case RegexNode::Assertion:
      emit(node.match, node.set == none ? 0 : node.set);
      return;
    }
  }

  void emitChoice(const RegexNode &node) {
    std::vector<uint32_t> jumps;
    for (size_t i = 0; i < node.children.size() && !failed; ++i) {
      bool last = i + 1 == node.children.size();
      uint32_t split = last ? 0 : emit(Match::Split);
      if (!last)
        code[split].x = here();
      emitNode(node.children[i]);
      if (last || failed)
        continue;
      jumps.push_back(emit(Match::Jump));
      if (!failed)
        code[split].y = here();
    }
    for (uint32_t jump : jumps)
      if (!failed)
        code[jump].x = here();
  }

  void emitRepeat(const RegexNode &node, RegexNode::Mode mode) {
    const RegexNode &body = node.children[0];
    if (body.kind == RegexNode::Set) {
      Match match = mode == RegexNode::Lazy         ? Match::LazySpan
                    : mode == RegexNode::Possessive ? Match::PossessiveSpan
                                                    : Match::Span;
      emit(match, body.set, node.minimum, node.maximum);
      return;
    }
    if (mode == RegexNode::Possessive) {
      uint32_t group = emit(Match::Atomic);
      emitRepeat(node, RegexNode::Greedy);
      return endBody(group);
    }
    uint32_t before = here();
    for (uint32_t i = 0; i < node.minimum && !failed; ++i) {
      emitNode(body);
      if (here() == before)  // nothing, however often
        break;
    }
    if (node.maximum == unlimited)
      emitLoop(body, mode == RegexNode::Lazy);
    else
      emitOptional(body, node.maximum - node.minimum, mode == RegexNode::Lazy);
  }

  void emitAtomic(const RegexNode &body) {
    bool isSpan = body.kind == RegexNode::Repeat && body.children[0].kind == RegexNode::Set;
    if (isSpan && body.mode == RegexNode::Greedy)
      emitRepeat(body, RegexNode::Possessive);
    else
      emitBody(Match::Atomic, body, 0);
  }

  void setTargets(uint32_t split, uint32_t into, uint32_t out, bool lazy) {
    if (failed)
      return;
    code[split].x = lazy ? out : into;
    code[split].y = lazy ? into : out;
  }

  void emitLoop(const RegexNode &body, bool lazy) {
    if (matchesNothing(body))
      return fail("a repeated group that may match nothing");
    uint32_t split = emit(Match::Split);
    emitNode(body);
    emit(Match::Jump, split);
    setTargets(split, split + 1, here(), lazy);
  }

  void emitOptional(const RegexNode &body, uint32_t count, bool lazy) {
    std::vector<uint32_t> splits;
    for (uint32_t i = 0; i < count && !failed; ++i) {
      splits.push_back(emit(Match::Split));
      emitNode(body);
    }
    for (uint32_t split : splits)
      setTargets(split, split + 1, here(), lazy);
  }

  void emitLook(const RegexNode &node) {
    bool isBehind = node.match == Match::Behind || node.match == Match::NotBehind;
    const RegexNode &body = node.children[0];
    std::optional<uint32_t> length = isBehind ? fixedLength(body) : 0;
    if (!length)
      return fail("a look-behind of variable length");
    emitBody(node.match, body, *length);
  }

  void emitBody(Match match, const RegexNode &body, uint32_t characters) {
    uint32_t group = emit(match, 0, 0, characters);
    emitNode(body);
    endBody(group);
  }

  void endBody(uint32_t group) {
    emit(Match::Accept);
    if (!failed)
      code[group].x = here();
  }

  bool matchesNothing(const RegexNode &node) {
    visit();
    auto all = [&] {
      for (const RegexNode &child : node.children)
        if (!matchesNothing(child))
          return false;
      return true;
    };
    switch (node.kind) {
    case RegexNode::Set:
      return false;
    case RegexNode::Sequence:
    case RegexNode::Atomic:
      return all();
    case RegexNode::Choice:
      for (const RegexNode &child : node.children)
        if (matchesNothing(child))
          return true;
      return false;
    case RegexNode::Repeat:
      return node.minimum == 0 || all();
    default:
      return true;
    }
  }

  // In characters, if every match has the same.
  std::optional<uint32_t> fixedLength(const RegexNode &node) {
    visit();
    uint64_t length = node.kind == RegexNode::Set ? 1 : 0;
    for (size_t i = 0; i < node.children.size(); ++i) {
      auto child = fixedLength(node.children[i]);
      if (node.kind == RegexNode::Look)
        return 0;
      if (!child)
        return std::nullopt;
      if (node.kind == RegexNode::Choice) {
        if (i > 0 && *child != length)
          return std::nullopt;
        length = *child;
      } else {
        length += *child;
      }
    }
    if (node.kind == RegexNode::Repeat) {
      if (node.minimum != node.maximum)
        return std::nullopt;
      length *= node.minimum;
    }
    if (length > maxInstructions)
      return std::nullopt;
    return static_cast<uint32_t>(length);
  }
};

}  // namespace

std::optional<uint32_t> compileRegex(std::string_view pattern, UnicodeProperties &unicode, SectionBuilder &section,
                                     std::string &error) {
  auto tree = parseRegex(pattern, unicode, section, error);
  if (!tree)
    return std::nullopt;
  return Compiler(section, error).run(*tree);
}

uint32_t compileLiteral(std::string_view text, SectionBuilder &section) {
  std::vector<Instruction> code;
  auto add = [&](const CharacterSet &set) { code.push_back({uint32_t(Match::Set), section.addSet(set), 0, 0}); };
  for (char32_t c : decodeUtf8(text))
    add(CharacterSet::of(c));
  if (code.empty())
    add({});
  code.push_back({uint32_t(Match::Accept), 0, 0, 0});
  return section.addPattern(code);
}

uint32_t compileSet(const CharacterSet &set, SectionBuilder &section) {
  return section.addPattern({{uint32_t(Match::Set), section.addSet(set), 0, 0}, {uint32_t(Match::Accept), 0, 0, 0}});
}

}  // namespace talc::frontend
