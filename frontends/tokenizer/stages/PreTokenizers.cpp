// SPDX-License-Identifier: Apache-2.0
// Pre-tokenizers of tokenizer.json. Most of them split at a pattern and differ in the pattern only.
#include "frontends/tokenizer/SplitPatterns.h"
#include "frontends/tokenizer/regex/RegexCompiler.h"
#include "frontends/tokenizer/stages/PipelineStages.h"
#include "frontends/tokenizer/unicode/Utf8Text.h"

namespace talc::frontend {

using namespace tokenizer;

namespace {

CharacterSet bertPunctuation() {
  CharacterSet set{{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}};
  set.add(*UnicodeProperties(UnicodeVersion::Bert).category("P"));
  return set;
}

class PreTokenizerCompiler {
public:
  explicit PreTokenizerCompiler(CompileContext &context) : context(context), section(context.section) {}

  void run(const Json &json, const std::string &path) {
    JsonFields fields(json, path, context.errors);
    std::string type = fields.text("type");
    if (context.errors.failed())
      return;
    if (type == "Sequence")
      forEachIn(context, fields, "pretokenizers", [&](const Json &j, const std::string &p) { run(j, p); });
    else if (type == "ByteLevel")
      addByteLevel(fields, path);
    else if (type == "Split")
      addSplit(fields);
    else if (type == "Metaspace")
      addMetaspace(fields);
    else if (type == "Digits")
      split(*UnicodeProperties(UnicodeVersion::Characters).category("N"),
            fields.flag("individual_digits", false) ? Behavior::Isolated : Behavior::Contiguous);
    else if (type == "Punctuation")
      split(bertPunctuation(), readBehavior(fields, "Isolated"));
    else if (type == "WhitespaceSplit")
      split(context.unicode.whitespace(), Behavior::Removed);
    else if (type == "Whitespace")
      addWhitespace();
    else if (type == "BertPreTokenizer")
      split(context.unicode.whitespace(), Behavior::Removed), split(bertPunctuation(), Behavior::Isolated);
    else if (type == "CharDelimiterSplit")
      split(CharacterSet::of(readCharacter(fields, "delimiter")), Behavior::Removed);
    else if (type == "FixedLength")
      addFixedLength(fields);
    else if (type == "UnicodeScripts")
      addScriptTable(section), add({uint32_t(TextOp::SplitScripts), 0, 0, {}, {}});
    else
      context.errors.fail(TokenizerError::Unsupported, path, "pre-tokenizer '" + type + "' is not known to talc");
  }

private:
  CompileContext &context;
  SectionBuilder &section;

  void add(Op op) { context.append(section.preTokenizers, op, "pre-tokenizers"); }

  void split(uint32_t pattern, Behavior behavior, bool invert = false) {
    add({uint32_t(TextOp::Split), pattern, uint32_t(behavior) + (invert ? 16 : 0), {}, {}});
  }
  void split(const CharacterSet &set, Behavior behavior) { split(compileSet(set, section), behavior); }

  void prependUnless(const std::string &text, bool firstOnly) {
    add({uint32_t(TextOp::PrependUnless), firstOnly ? 1u : 0u, 0, section.addText(text), {}});
  }

  Behavior readBehavior(const JsonFields &fields, const char *fallback) {
    constexpr const char *names[] = {"Removed", "Isolated", "MergedWithPrevious", "MergedWithNext", "Contiguous"};
    std::string name = fallback && !fields.find("behavior") ? fallback : fields.text("behavior");
    for (uint32_t i = 0; i < 5; ++i)
      if (name == names[i])
        return static_cast<Behavior>(i);
    context.errors.fail(TokenizerError::Unsupported, fields.path("behavior"), "'" + name + "' is not known to talc");
    return Behavior::Isolated;
  }

  char32_t readCharacter(const JsonFields &fields, const char *name) {
    auto characters = decodeUtf8(fields.text(name));
    if (characters.size() == 1)
      return characters[0];
    context.errors.fail(TokenizerError::WrongField, fields.path(name), "expected one character");
    return ' ';
  }

  void addByteLevel(const JsonFields &fields, const std::string &path) {
    if (fields.flag("add_prefix_space", true))
      prependUnless(" ", false);
    if (fields.flag("use_regex", true))
      split(compileRegexAt(context, gpt2Pattern, path), Behavior::Isolated);
    add({uint32_t(TextOp::MapBytes), 0, 0, {}, {}});
  }

  void addSplit(const JsonFields &fields) {
    const Json *pattern = fields.object("pattern");
    if (!pattern)
      return;
    uint32_t index = compilePattern(context, *pattern, fields.path("pattern"));
    split(index, readBehavior(fields, nullptr), fields.flag("invert", false));
  }

  void addMetaspace(const JsonFields &fields) {
    std::string replacement;
    appendCodePoint(replacement, readCharacter(fields, "replacement"));
    bool addsPrefix = fields.flag("add_prefix_space", true);
    std::string scheme = fields.optionalText("prepend_scheme").value_or(addsPrefix ? "always" : "never");
    if (scheme != "always" && scheme != "first" && scheme != "never")
      context.errors.fail(TokenizerError::Unsupported, fields.path("prepend_scheme"),
                          "'" + scheme + "' is not known to talc");
    add({uint32_t(TextOp::Replace), compileLiteral(" ", section), 0, section.addText(replacement), {}});
    if (scheme != "never")
      prependUnless(replacement, scheme == "first");
    if (fields.flag("split", true))
      split(compileLiteral(replacement, section), Behavior::MergedWithNext);
  }

  // Words `\w+` and runs of other visible characters.
  void addWhitespace() {
    CharacterSet word = context.unicode.words();
    CharacterSet other = word;
    other.add(context.unicode.whitespace());
    auto run = [&](const CharacterSet &set) {
      return Instruction{uint32_t(Match::Span), section.addSet(set), 1, unlimited};
    };
    std::vector<Instruction> code{{uint32_t(Match::Split), 1, 3, 0},
                                  run(word),
                                  {uint32_t(Match::Jump), 4, 0, 0},
                                  run(other.negated()),
                                  {uint32_t(Match::Accept), 0, 0, 0}};
    split(section.addPattern(code), Behavior::Removed, true);
  }

  void addFixedLength(const JsonFields &fields) {
    uint32_t length = fields.number("length", 5);
    if (length == 0)
      context.errors.fail(TokenizerError::WrongField, fields.path("length"), "expected at least 1, found 0");
    add({uint32_t(TextOp::SplitLength), length, 0, {}, {}});
  }
};

}  // namespace

void compilePreTokenizer(CompileContext &context, const Json &json, const std::string &path) {
  PreTokenizerCompiler(context).run(json, path);
}

}  // namespace talc::frontend
