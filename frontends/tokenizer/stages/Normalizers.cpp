// SPDX-License-Identifier: Apache-2.0
// Normalizers of tokenizer.json.
#include "frontends/tokenizer/stages/PipelineStages.h"
#include "frontends/tokenizer/unicode/UnicodeVersions.h"

namespace talc::frontend {

using namespace tokenizer;

// Mappings of one kind for a whole set.
static std::vector<CharMapping> mapSet(const CharacterSet &set, MapKind kind, uint32_t value = 0) {
  std::vector<CharMapping> mappings;
  for (Range range : set.ranges())
    mappings.push_back({range.first, range.last, static_cast<uint32_t>(kind), value});
  return mappings;
}

constexpr uint32_t dottedCapitalI = 0x130;  // the only character with an unconditional expansion in SpecialCasing.txt

static std::vector<CharMapping> findLowercase() {
  std::vector<CharMapping> mappings;
  for (uint32_t c = 0; c <= 0x10FFFF; ++c) {
    uint32_t lower = lowercaseIn(UnicodeVersion::Characters, c);
    if (lower == c || c == dottedCapitalI)
      continue;
    uint32_t shift = lower - c;
    bool extends = !mappings.empty() && mappings.back().last + 1 == c && mappings.back().value == shift;
    if (extends)
      mappings.back().last = c;
    else
      mappings.push_back({c, c, static_cast<uint32_t>(MapKind::Shift), shift});
  }
  return mappings;
}

// Lowercase, character by character.
static uint32_t addLowercaseMap(SectionBuilder &section) {
  static const std::vector<CharMapping> lowercase = findLowercase();
  std::vector<CharMapping> mappings = lowercase;
  uint32_t expansion = section.addExpansion("i\xCC\x87");
  mappings.push_back({dottedCapitalI, dottedCapitalI, static_cast<uint32_t>(MapKind::Expand), expansion});
  return section.addMap(std::move(mappings));
}

namespace {

class NormalizerCompiler {
public:
  explicit NormalizerCompiler(CompileContext &context) : context(context), section(context.section) {}

  void run(const Json &json, const std::string &path) {
    JsonFields fields(json, path, context.errors);
    std::string type = fields.text("type");
    if (context.errors.failed())
      return;
    if (type == "Sequence")
      forEachIn(context, fields, "normalizers", [&](const Json &j, const std::string &p) { run(j, p); });
    else if (type == "NFC" || type == "NFD" || type == "NFKC" || type == "NFKD")
      addNormalForm(type);
    else if (type == "Prepend")
      add({uint32_t(TextOp::Prepend), 0, 0, section.addText(fields.text("prepend")), {}});
    else if (type == "Replace")
      addReplace(fields);
    else if (type == "Lowercase")
      addMap(addLowercaseMap(section));
    else if (type == "StripAccents")
      deleteCategory("M", UnicodeVersion::NormalForms);
    else if (type == "Strip")
      addStrip(fields);
    else if (type == "Nmt")
      addNmt();
    else if (type == "ByteLevel")
      add({uint32_t(TextOp::MapBytes), 0, 0, {}, {}});
    else if (type == "BertNormalizer")
      addBert(fields);
    else if (type == "Precompiled")
      addCharsmap(fields);
    else
      context.errors.fail(TokenizerError::Unsupported, path, "normalizer '" + type + "' is not known to talc");
  }

private:
  CompileContext &context;
  SectionBuilder &section;

  void add(Op op) { context.append(section.normalizers, op, "normalizers"); }
  void addMap(uint32_t map) { add({uint32_t(TextOp::MapChars), map, 0, {}, {}}); }

  void deleteCategory(const char *name, UnicodeVersion version) {
    addMap(section.addMap(mapSet(*UnicodeProperties(version).category(name), MapKind::Delete)));
  }

  void addNormalForm(const std::string &type) {
    bool compatible = type.size() == 4, composed = type.back() == 'C';
    addNormalFormTables(section, compatible);
    NormalForm form =
        compatible ? (composed ? NormalForm::Nfkc : NormalForm::Nfkd) : (composed ? NormalForm::Nfc : NormalForm::Nfd);
    add({uint32_t(TextOp::Normalize), uint32_t(form), 0, {}, {}});
  }

  void addReplace(const JsonFields &fields) {
    const Json *pattern = fields.object("pattern");
    if (!pattern)
      return;
    uint32_t index = compilePattern(context, *pattern, fields.path("pattern"));
    add({uint32_t(TextOp::Replace), index, 0, section.addText(fields.text("content")), {}});
  }

  void addStrip(const JsonFields &fields) {
    uint32_t sides = (fields.flag("strip_left", true) ? 1 : 0) | (fields.flag("strip_right", true) ? 2 : 0);
    add({uint32_t(TextOp::Strip), sides, section.header.whitespace, {}, {}});
  }

  // Control characters and spaces as in the Neural Machine Translation rules of SentencePiece.
  void addNmt() {
    CharacterSet removed{{0x01, 0x08}, {0x0B, 0x0B}, {0x0E, 0x1F}, {0x7F, 0x7F}, {0x8F, 0x8F}, {0x9F, 0x9F}};
    CharacterSet spaces{{0x09, 0x0A},     {0x0C, 0x0D},     {0x1680, 0x1680}, {0x200B, 0x200F},
                        {0x2028, 0x2029}, {0x2581, 0x2581}, {0xFEFF, 0xFEFF}, {0xFFFD, 0xFFFD}};
    auto mappings = mapSet(removed, MapKind::Delete);
    for (const CharMapping &mapping : mapSet(spaces, MapKind::Constant, ' '))
      mappings.push_back(mapping);
    addMap(section.addMap(std::move(mappings)));
  }

  void addBert(const JsonFields &fields) {
    bool lowercase = fields.flag("lowercase", true);
    if (fields.flag("clean_text", true))
      addBertCleaning();
    if (fields.flag("handle_chinese_chars", true)) {
      CharacterSet ideographs{{0x4E00, 0x9FFF},   {0x3400, 0x4DBF},   {0x20000, 0x2A6DF}, {0x2A700, 0x2B73F},
                              {0x2B740, 0x2B81F}, {0x2B920, 0x2CEAF}, {0xF900, 0xFAFF},   {0x2F800, 0x2FA1F}};
      addMap(section.addMap(mapSet(ideographs, MapKind::Surround)));
    }
    if (fields.flag("strip_accents", lowercase)) {
      addNormalForm("NFD");
      deleteCategory("Mn", UnicodeVersion::Bert);
    }
    if (lowercase)
      addMap(addLowercaseMap(section));
  }

  void addBertCleaning() {
    CharacterSet keptControls{{'\t', '\n'}, {'\r', '\r'}};
    CharacterSet removed = CharacterSet{{0, 0}, {0xFFFD, 0xFFFD}};
    UnicodeProperties unicode(UnicodeVersion::Bert);
    for (const char *name : {"Cc", "Cf", "Co"})
      removed.add(*unicode.category(name));
    removed = removed.intersected(keptControls.negated());
    CharacterSet spaces = unicode.whitespace().intersected(removed.negated());
    auto mappings = mapSet(removed, MapKind::Delete);
    for (const CharMapping &mapping : mapSet(spaces, MapKind::Constant, ' '))
      mappings.push_back(mapping);
    addMap(section.addMap(std::move(mappings)));
  }

  void addCharsmap(const JsonFields &fields) {
    const Json *rules = fields.find("precompiled_charsmap");
    if (!rules || (!rules->is_binary() && fields.text("precompiled_charsmap").empty()))
      return;
    uint32_t root = compileCharsmap(context, *rules, fields.path("precompiled_charsmap"));
    // Only translations of SentencePiece models ask for this.
    bool longest = rules->is_binary() && fields.flag("longest_match", false);
    if (!longest)
      addGraphemeTable(section);
    add({uint32_t(TextOp::Charsmap), root, longest ? 1u : 0u, {}, {}});
  }
};

}  // namespace

void compileNormalizer(CompileContext &context, const Json &json, const std::string &path) {
  NormalizerCompiler(context).run(json, path);
}

}  // namespace talc::frontend
