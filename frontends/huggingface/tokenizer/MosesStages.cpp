// SPDX-License-Identifier: Apache-2.0
// The rules of Moses (normalize-punctuation.perl, tokenizer.perl with aggressive splits at dashes) as transformers'
// TransfoXLTokenizer applies them. Rules that copy a character look at it instead.
#include "frontends/huggingface/tokenizer/TokenizerFiles.h"

#include <string>

namespace talc::frontend {

namespace {

struct Rule {
  const char *pattern, *content;
};

// Letters, and letters and digits, within brackets.
#define LETTERS R"(\p{L}\p{Nl}\p{Mc})"
#define ALPHANUMERIC LETTERS R"(\p{Nd})"

const Rule spaceRules[] = {
    {R"(\r)", ""},   {R"(\()", " ("}, {R"(\))", ") "},          {" +", " "},      {R"((?<=\)) (?=[.!:?;,]))", ""},
    {R"(\( )", "("}, {R"( \))", ")"}, {R"((?<=\d) (?=%))", ""}, {" (?=[:;])", ""}};

const Rule quoteRules[] = {{"`", "'"},
                           {"''", " \" "},
                           {R"([\x{201e}\x{201c}\x{201d}])", "\""},
                           {R"(\x{2013})", "-"},
                           {R"(\x{2014})", " - "},
                           {" +", " "},
                           {R"([\x{00b4}\x{2018}\x{2019}\x{201a}])", "'"},
                           {"''", "\""},
                           {R"(\x{2026})", "..."},
                           {R"(\x{00a0}?[\x{00ab}\x{00bb}]\x{00a0}?)", "\""},
                           {R"(\x{00a0}(?=[%:?!;]))", ""},
                           {R"((?<=n\x{00ba})\x{00a0})", " "},
                           {R"(\x{00a0}(?=\x{00ba}C|cm))", " "},
                           {R"((?<=,)\x{00a0})", " "},
                           {" +", " "}};

// A quotation mark moves behind commas and points.
const Rule commaRules[] = {{"\",", ",\""}, {R"("\.)", ".\""}};
constexpr int maxCommas = 4;

const Rule wordRules[] = {
    {R"((?<=\d)\x{00a0}(?=\d))", "."},
    {R"(\A\s+|\s+\z)", ""},
    {R"(\s+)", " "},
    {R"([\x{00}-\x{1f}])", ""},
    {R"(\A +| +\z)", ""},
    {"(?<=[" ALPHANUMERIC "])-(?=[" ALPHANUMERIC "])", " @-@ "},
    {R"((?<=[^\p{N}]),|,(?=[^\p{N}])|(?<=[\p{N}]),\z)", " , "},
    {"(?<=[^" LETTERS "])'(?=[^" LETTERS "])", " ' "},
    {"(?<=[^" LETTERS R"(\p{N}])'(?=[)" LETTERS "])", " ' "},
    {"(?<=[" LETTERS "])'(?=[^" LETTERS "])", " ' "},
    {"(?<=[" LETTERS "])(?<![" LETTERS "]'[" LETTERS "])'(?=[" LETTERS "])", " '"},
    {R"((?<=[\p{N}])'(?=s))", " '"},
    {"(?<!@[,.-])@(?![,.-]@)", " @ "},
    {R"((?<!\.)\.'\z)", " . '"},
    {R"((?<=\d),(?=\d))", " @,@ "},
    {R"((?<=\d)\.(?=\d))", " @.@ "},
};

// Abbreviations that keep their point (nonbreaking_prefix.en), then those that keep it before digits.
#define ABBREVIATIONS                                                                                                  \
  "[A-Z]|Adj|Adm|Adv|Asst|Bart|Bldg|Brig|Bros|Capt|Cmdr|Col|Comdr|Con|Corp|Cpl|DR|Dr|Drs|Ens|Gen|Gov|Hon|Hr|Hosp|"     \
  "Insp|Lt|MM|MR|MRS|MS|Maj|Messrs|Mlle|Mme|Mr|Mrs|Ms|Msgr|Op|Ord|Pfc|Ph|Prof|Pvt|Rep|Reps|Res|Rev|Rt|Sen|Sens|Sfc|"   \
  "Sgt|Sr|St|Supt|Surg|v|vs|rev|Rs|Nos|Nr|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Oct|Nov|Dec"
#define NUMBER_ABBREVIATIONS "No|Art|pp"

// The characters of words, the same without several dots, and the end of a word are parts of patterns.
#define IN_WORD "[" ALPHANUMERIC ".'`,@-]"
#define NO_DOT "[" ALPHANUMERIC "'`,@-]"
#define WORD_PART "(?:" NO_DOT R"(|\.(?!\.)))"
#define WORD_END "(?!" IN_WORD ")"

// A match is a token: several dots, a word with its point, or the point behind a word that does not keep it. A word
// keeps it that has points and letters before it, or is an abbreviation, or if a small letter follows.
constexpr const char *pointPattern =
    R"(\.\.+|(?:(?<!)" IN_WORD R"()|(?<=\.\.))(?:)"                                      //
    "(?=" WORD_PART "*[" LETTERS "])" NO_DOT R"(*\.(?!\.))" WORD_PART R"(*\.)" WORD_END  //
    "|(?:" ABBREVIATIONS R"()\.)" WORD_END                                               //
    "|(?:" NUMBER_ABBREVIATIONS R"()\.(?=\s+[0-9]))"                                     //
    "|" NO_DOT WORD_PART R"(*\.(?=\s+\p{Ll}))"                                           //
    ")|(?<=" IN_WORD R"()(?<!\.)\.(?!\.))" WORD_END;

constexpr const char *symbolPattern = R"(@[,.-]@|\.\.+|@|[^)" ALPHANUMERIC ".'`,@-]";

Json makeSplit(const char *pattern) {
  return {{"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
}

}  // namespace

Json makeMosesNormalizer() {
  Json rules = Json::array();
  auto add = [&](const Rule &rule) {
    rules.push_back(
        Json::object({{"type", "Replace"}, {"pattern", {{"Regex", rule.pattern}}}, {"content", rule.content}}));
  };
  for (const Rule &rule : spaceRules)
    add(rule);
  for (const Rule &rule : quoteRules)
    add(rule);
  for (int commas = 0; commas < maxCommas; ++commas)
    for (const Rule &rule : commaRules)
      add(rule);
  for (const Rule &rule : wordRules)
    add(rule);
  return {{"type", "Sequence"}, {"normalizers", std::move(rules)}};
}

Json makeMosesPreTokenizer() {
  return {{"type", "Sequence"},
          {"pretokenizers",
           Json::array({makeSplit(pointPattern), {{"type", "WhitespaceSplit"}}, makeSplit(symbolPattern)})}};
}

}  // namespace talc::frontend
