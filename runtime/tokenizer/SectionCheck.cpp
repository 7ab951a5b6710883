// SPDX-License-Identifier: Apache-2.0
// The bounds check of a tokenizer section: everything an index, a root or a text can lead to is looked at once.
#include "runtime/tokenizer/Section.h"
#include "runtime/tokenizer/Utf8.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace talc::tokenizer {
namespace {

// Remembers what was wrong; every check becomes a no-op once something was.
class Checker {
public:
  Checker(const Section &section, std::string &error) : section(section), error(error) {}

  bool run() {
    checkTokens();
    checkTrie();
    checkMerges();
    checkSets();
    checkPatterns();
    checkMaps();
    checkNormalForms();
    checkTextOps(section.normalizers);
    checkTextOps(section.preTokenizers);
    checkDecoders();
    checkModel();
    checkTemplates();
    return ok;
  }

private:
  const Section &section;
  std::string &error;
  bool ok = true;

  void require(bool condition, const char *what) {
    if (condition || !ok)
      return;
    ok = false;
    error = std::string("error[T0321]: tokenizer section: ") + what + "; the artifact is damaged";
  }

  static bool within(uint64_t first, uint64_t count, size_t size) { return first <= size && count <= size - first; }

  void checkText(Text text) {
    bool inside = within(text.offset, text.size, section.pool.count);
    require(inside && findInvalid(section.text(text)) == std::string_view::npos,
            "a text is not valid UTF-8 in the pool");
  }

  void checkRoot(uint32_t root) { require(root == none || root < section.trie.count, "a trie root is out of range"); }
  void checkId(uint32_t id) { require(id == none || id < section.tokens.count, "a token id is out of range"); }
  void checkSet(uint32_t set) { require(set < section.sets.count, "a character set is out of range"); }
  void checkPattern(uint32_t pattern) { require(pattern < section.patterns.count, "a pattern is out of range"); }

  void checkTokens() {
    for (const Token &token : section.tokens) {
      checkText(token.text);
      require(!(token.flags & tokenAdded) || token.text.size <= maxTokenBytes, "an added token is too long");
    }
    for (const Token &token : section.targets)
      checkText(token.text);
    for (Text text : section.expansions)
      checkText(text);
    const Header &h = *section.header;
    checkSet(h.whitespace);
    if (h.wordCharacters != none)
      checkSet(h.wordCharacters);
  }

  // Children lie behind their parent, so one pass knows every depth.
  void checkTrie() {
    std::vector<uint32_t> depth(section.trie.count, 0);
    for (size_t i = 0; i < section.trie.count && ok; ++i) {
      const TrieNode &node = section.trie[i];
      bool inside = node.childCount == 0 || (node.firstChild > i && node.childCount <= 256 &&
                                             within(node.firstChild, node.childCount, section.trie.count));
      require(inside && depth[i] <= maxTokenBytes, "a trie node has children out of range");
      for (uint32_t c = 0; c < node.childCount && ok; ++c)
        depth[node.firstChild + c] = std::max<uint32_t>(depth[node.firstChild + c], depth[i] + 1);
    }
  }

  // Values of token tries are ids, values of the charsmap tries are expansions.
  void checkValues(uint32_t root, size_t limit, const char *what) {
    if (!ok || root == none)
      return;
    std::vector<bool> reached(section.trie.count, false);
    reached[root] = true;
    for (size_t i = root; i < section.trie.count && ok; ++i) {
      if (!reached[i])
        continue;
      const TrieNode &node = section.trie[i];
      require(node.value == none || node.value < limit, what);
      for (uint32_t c = 0; c < node.childCount; ++c)
        reached[node.firstChild + c] = true;
    }
  }

  void checkMerges() {
    if (section.header->model.kind != uint32_t(ModelKind::Bpe))
      return;
    require(section.mergeFirst.count == section.tokens.count + 1, "the merge index has the wrong length");
    uint32_t previous = 0;
    for (uint32_t first : section.mergeFirst) {
      require(first >= previous && first <= section.merges.count, "the merge index is not ascending");
      previous = first;
    }
    for (const Merge &merge : section.merges)
      checkId(merge.result), require(merge.result != none, "a merge is empty");
  }

  void checkSets() {
    for (const CharSet &set : section.sets)
      require(within(set.firstRange, set.rangeCount, section.ranges.count), "a character set has ranges out of range");
  }

  void checkPatterns() {
    for (const Pattern &p : section.patterns) {
      require(p.instructionCount > 0 && within(p.firstInstruction, p.instructionCount, section.instructions.count),
              "a pattern has instructions out of range");
      for (uint32_t i = 0; i < p.instructionCount && ok; ++i)
        checkInstruction(section.instructions[p.firstInstruction + i], i, p.instructionCount);
    }
  }

  void checkInstruction(const Instruction &instruction, uint32_t index, uint32_t count) {
    bool fallsThrough = index + 1 < count, target = instruction.x < count;
    switch (static_cast<Match>(instruction.match)) {
    case Match::Accept:
      return;
    case Match::Set:
    case Match::Span:
    case Match::LazySpan:
    case Match::PossessiveSpan:
    case Match::WordBoundary:
    case Match::NotWordBoundary:
      checkSet(instruction.x);
      break;
    case Match::Split:
      require(target && instruction.y < count, "a pattern jumps out of its program");
      return;
    case Match::Jump:
      require(target, "a pattern jumps out of its program");
      return;
    case Match::Ahead:
    case Match::NotAhead:
    case Match::Behind:
    case Match::NotBehind:
    case Match::Atomic:
      require(target, "a pattern jumps out of its program");
      break;
    case Match::LineBegin:
    case Match::LineEnd:
    case Match::TextBegin:
    case Match::TextEnd:
    case Match::TextEndNewline:
      break;
    default:
      require(false, "a pattern has an unknown instruction");
    }
    require(fallsThrough, "a pattern runs out of its program");
  }

  void checkMaps() {
    for (const CharMap &map : section.maps)
      require(within(map.firstMapping, map.mappingCount, section.mappings.count), "a character map is out of range");
    for (const CharMapping &mapping : section.mappings) {
      require(mapping.kind <= uint32_t(MapKind::Expand), "a character mapping has an unknown kind");
      if (mapping.kind == uint32_t(MapKind::Expand))
        require(mapping.value < section.expansions.count, "a character mapping expands out of range");
    }
  }

  void checkNormalForms() {
    for (auto table : {section.canonical, section.compatible})
      for (const Decomposition &d : table)
        require(within(d.firstCodePoint, d.codePointCount, section.codePoints.count),
                "a decomposition is out of range");
    for (uint32_t codePoint : section.codePoints)
      require(codePoint <= 0x10FFFF, "a code point is out of range");
    for (const Composition &c : section.compositions)
      require(c.composite <= 0x10FFFF, "a code point is out of range");
  }

  void checkTextOps(Array<Op> ops) {
    for (const Op &op : ops) {
      checkText(op.text);
      switch (static_cast<TextOp>(op.kind)) {
      case TextOp::Prepend:
      case TextOp::PrependUnless:
      case TextOp::MapBytes:
      case TextOp::SplitScripts:
        break;
      case TextOp::Replace:
        checkPattern(op.a);
        break;
      case TextOp::Split:
        checkPattern(op.a), require(op.b % 16 <= 4 && op.b < 32, "a split is unknown");
        break;
      case TextOp::MapChars:
        require(op.a < section.maps.count, "a character map is out of range");
        break;
      case TextOp::Normalize:
        require(op.a <= uint32_t(NormalForm::Nfkc), "a normal form is unknown");
        break;
      case TextOp::Strip:
        checkSet(op.b);
        break;
      case TextOp::Charsmap:
        checkRoot(op.a);
        require(op.b <= 1, "a charsmap is searched in an unknown way");
        checkValues(op.a, section.expansions.count, "a charsmap rule is out of range");
        break;
      case TextOp::SplitLength:
        require(op.a > 0, "a split length is 0");
        break;
      default:
        require(false, "a text operation is unknown");
      }
    }
  }

  void checkDecoders() {
    for (const Op &op : section.decoders) {
      checkText(op.text), checkText(op.other);
      require(op.kind <= uint32_t(DecodeOp::Join), "a decoder is unknown");
      if (op.kind == uint32_t(DecodeOp::Replace))
        checkPattern(op.a);
    }
  }

  void checkModel() {
    const Model &model = section.header->model;
    require(model.kind >= 1 && model.kind <= 4, "the model is unknown");
    checkId(model.unknown), checkRoot(model.pieces), checkRoot(model.continuations);
    checkText(model.prefix), checkText(model.suffix);
    for (uint32_t id : model.byteTokens)
      checkId(id);
    bool unigram = model.kind == uint32_t(ModelKind::Unigram);
    require(!unigram || section.scores.count >= section.tokens.count, "the scores have the wrong length");
    for (uint32_t root : {model.pieces, model.continuations})
      checkValues(root, unigram ? section.scores.count : section.tokens.count, "a trie leads to a token out of range");
  }

  void checkTemplates() {
    for (auto items : {section.single, section.pair})
      for (const TemplateItem &item : items) {
        require(item.kind <= uint32_t(ItemKind::Language), "a template item is unknown");
        if (item.kind == uint32_t(ItemKind::Token) || item.kind == uint32_t(ItemKind::Language))
          require(item.value < section.tokens.count, "a template token is out of range");
      }
    for (const Language &language : section.languages) {
      checkText(language.name);
      require(language.token < section.tokens.count, "the token of a language is out of range");
    }
  }
};

template <typename T> bool locate(const unsigned char *bytes, size_t size, Slice slice, Array<T> &out) {
  if (slice.offset % alignof(T) != 0 || slice.offset > size || slice.count > (size - slice.offset) / sizeof(T))
    return false;
  out = {reinterpret_cast<const T *>(bytes + slice.offset), slice.count};
  return true;
}

bool locateAll(const unsigned char *bytes, size_t size, Section &s) {
  const Header &h = *s.header;
  auto at = [&](Slice slice, auto &out) { return locate(bytes, size, slice, out); };
  return at(h.pool, s.pool) && at(h.tokens, s.tokens) && at(h.targets, s.targets) && at(h.scores, s.scores) &&
         at(h.trie, s.trie) && at(h.mergeFirst, s.mergeFirst) && at(h.merges, s.merges) && at(h.ranges, s.ranges) &&
         at(h.sets, s.sets) && at(h.instructions, s.instructions) && at(h.patterns, s.patterns) &&
         at(h.mappings, s.mappings) && at(h.maps, s.maps) && at(h.expansions, s.expansions) &&
         at(h.codePoints, s.codePoints) && at(h.canonical, s.canonical) && at(h.compatible, s.compatible) &&
         at(h.compositions, s.compositions) && at(h.combining, s.combining) && at(h.graphemes, s.graphemes) &&
         at(h.scripts, s.scripts) && at(h.normalizers, s.normalizers) && at(h.preTokenizers, s.preTokenizers) &&
         at(h.decoders, s.decoders) && at(h.single, s.single) && at(h.pair, s.pair);
}

bool locateLanguages(const unsigned char *bytes, size_t size, Section &s) {
  LanguageSlice slice;
  if (s.header->version != languageVersion)
    return true;
  if (size < sizeof(Header) + sizeof(slice))
    return false;
  std::memcpy(&slice, bytes + sizeof(Header), sizeof(slice));
  return locate(bytes, size, slice, s.languages);
}

}  // namespace

bool Section::open(const unsigned char *bytes, size_t size, std::string &error) {
  auto damaged = [&](const char *what) {
    error = std::string("error[T0321]: tokenizer section: ") + what;
    return false;
  };
  if (size < sizeof(Header))
    return damaged("shorter than its header; the artifact is damaged");
  if (reinterpret_cast<uintptr_t>(bytes) % 8 != 0)
    return damaged("not aligned to 8 bytes");
  header = reinterpret_cast<const Header *>(bytes);
  if (std::memcmp(header->magic, sectionMagic, sizeof sectionMagic) != 0)
    return damaged("has no magic; the artifact is damaged");
  if (header->version != formatVersion && header->version != languageVersion)
    return damaged("is of another version than this runtime; compile the model again");
  if (header->sectionSize != size)
    return damaged("has another size than its header says; the artifact is damaged");
  if (!locateAll(bytes, size, *this) || !locateLanguages(bytes, size, *this))
    return damaged("has a table out of range; the artifact is damaged");
  return Checker(*this, error).run();
}

}  // namespace talc::tokenizer
