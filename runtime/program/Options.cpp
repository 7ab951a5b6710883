// SPDX-License-Identifier: Apache-2.0
// Parses the command line from one table of options.
#include "runtime/program/OptionChecks.h"

#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace talc::program {

static bool parseInteger(std::string_view text, uint64_t lowest, uint64_t highest, uint64_t &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= lowest && value <= highest;
}

static bool parseNumber(const std::string &text, float &value) {
  if (text.empty() || text.find_first_not_of("0123456789.eE+-") != std::string::npos)
    return false;  // no spaces, no "inf", no hexadecimal
  char *end = nullptr;
  value = strtof(text.c_str(), &end);
  return *end == 0 && std::isfinite(value);
}

static bool parseIds(std::string_view text, std::vector<int32_t> &ids) {
  while (true) {
    size_t comma = text.find(',');
    uint64_t id = 0;
    if (!parseInteger(text.substr(0, comma), 0, INT_MAX, id))
      return false;
    ids.push_back(static_cast<int32_t>(id));
    if (comma == std::string_view::npos)
      return true;
    text.remove_prefix(comma + 1);
  }
}

namespace {

// Reads an option's value; the text says what was expected, or null.
using ReadValue = const char *(*)(const std::string &value, Options &options);

struct Option {
  const char *name, *longName;  // longName may be null
  ReadValue read;               // null for a flag
  void (*set)(Options &options);
  unsigned kinds = forDecoders | forEncoders | forTranslators;
};

constexpr unsigned forGenerators = forDecoders | forTranslators;

}  // namespace

// `Field`: an int32_t, or an optional one.
template <auto Field> static const char *readCount(const std::string &value, Options &options) {
  uint64_t number;
  if (!parseInteger(value, 1, 1024, number))
    return "a number from 1 to 1024";
  options.*Field = static_cast<int32_t>(number);
  return nullptr;
}

template <std::optional<int32_t> Options::*Field>
static const char *readNatural(const std::string &value, Options &options) {
  uint64_t number;
  if (!parseInteger(value, 0, INT_MAX, number))
    return "a number from 0 to 2147483647";
  options.*Field = static_cast<int32_t>(number);
  return nullptr;
}

template <std::optional<float> Options::*Field, bool zero, bool bounded>
static const char *readFloat(const std::string &value, Options &options) {
  float number;
  if (!parseNumber(value, number) || number < 0 || (!zero && number == 0) || (bounded && number > 1))
    return zero ? (bounded ? "a number from 0 to 1" : "a number of at least 0")
                : (bounded ? "a number above 0, at most 1" : "a number above 0");
  options.*Field = number;
  return nullptr;
}

static const char *readLengthPenalty(const std::string &value, Options &options) {
  float number;
  if (!parseNumber(value, number))
    return "a number";
  options.lengthPenalty = number;
  return nullptr;
}

static const char *readEarlyStopping(const std::string &value, Options &options) {
  const char *const names[] = {"no", "yes", "never"};
  for (int32_t i = 0; i < 3; ++i)
    if (value == names[i])
      options.earlyStopping = i;
  return options.earlyStopping ? nullptr : "no, yes or never";
}

static const char *readPool(const std::string &value, Options &options) {
  if (value == "cls" || value == "mean" || value == "none")
    options.pool = value == "cls" ? TALC_POOLING_FIRST : value == "mean" ? TALC_POOLING_MEAN : TALC_POOLING_NONE;
  return options.pool ? nullptr : "cls, mean or none";
}

template <PromptSource::Kind kind> static const char *readPrompt(const std::string &value, Options &options) {
  PromptSource source = {kind, value, {}};
  if (kind == PromptSource::Text && value == "-")
    source.kind = PromptSource::File;
  if (kind == PromptSource::Ids && !parseIds(value, source.ids))
    return "token ids such as 5,7,9";
  options.prompts.push_back(source);
  return nullptr;
}

static const char *readPair(const std::string &value, Options &options) {
  if (options.prompts.empty())
    return "to follow the text that it is the second of";
  options.prompts.back().pair = value;
  return nullptr;
}

static const char *readDecoderIds(const std::string &value, Options &options) {
  if (options.prompts.empty())
    return "to follow the source that it answers to";
  options.prompts.back().decoderIds.clear();
  return parseIds(value, options.prompts.back().decoderIds) ? nullptr : "token ids such as 5,7,9";
}

template <std::string Options::*Field> static const char *readPath(const std::string &value, Options &options) {
  options.*Field = value;
  return value.empty() ? "a path" : nullptr;
}

static const char *readSeed(const std::string &value, Options &options) {
  return parseInteger(value, 0, UINT64_MAX, options.seed) ? nullptr : "a number from 0 to 2^64 - 1";
}

static const Option table[] = {
    {"-p", "--prompt", readPrompt<PromptSource::Text>, nullptr},
    {"--text", nullptr, readPrompt<PromptSource::Text>, nullptr},
    {"-f", "--file", readPrompt<PromptSource::File>, nullptr},
    {"--ids", nullptr, readPrompt<PromptSource::Ids>, nullptr},
    {"--pair", nullptr, readPair, nullptr, forEncoders},
    {"--decoder-ids", nullptr, readDecoderIds, nullptr, forTranslators},
    {"--input", nullptr, readPath<&Options::inputFile>, nullptr},
    {"--output", nullptr, readPath<&Options::outputFile>, nullptr},
    {"--batch", nullptr, readCount<&Options::batch>, nullptr},
    {"-n", "--predict", readNatural<&Options::tokens>, nullptr, forGenerators},
    {"--min-tokens", nullptr, readNatural<&Options::minTokens>, nullptr, forGenerators},
    {"-t", "--threads", readCount<&Options::threads>, nullptr},
    {"-m", "--model", readPath<&Options::model>, nullptr},
    {"-s", "--seed", readSeed, nullptr, forGenerators},
    {"--temp", nullptr, readFloat<&Options::temperature, true, false>, nullptr, forGenerators},
    {"--top-k", nullptr, readNatural<&Options::topK>, nullptr, forGenerators},
    {"--top-p", nullptr, readFloat<&Options::topP, false, true>, nullptr, forGenerators},
    {"--min-p", nullptr, readFloat<&Options::minP, true, true>, nullptr, forGenerators},
    {"--repeat-penalty", nullptr, readFloat<&Options::repeatPenalty, false, false>, nullptr, forGenerators},
    {"--no-repeat-ngram", nullptr, readNatural<&Options::noRepeatNgram>, nullptr, forGenerators},
    {"--beams", nullptr, readCount<&Options::beams>, nullptr, forGenerators},
    {"--length-penalty", nullptr, readLengthPenalty, nullptr, forGenerators},
    {"--early-stopping", nullptr, readEarlyStopping, nullptr, forGenerators},
    {"--prefix", nullptr, readNatural<&Options::prefix>, nullptr, forDecoders},
    {"--pool", nullptr, readPool, nullptr, forEncoders},
    {"--top", nullptr, readCount<&Options::top>, nullptr, forEncoders},
    {"--logits", nullptr, readPath<&Options::logitsFile>, nullptr},
    {"--hidden", nullptr, readPath<&Options::hiddenFile>, nullptr, forEncoders},
    {"--ignore-eos", "--no-eos", nullptr, [](Options &o) { o.ignoreEnd = true; }, forGenerators},
    {"--no-echo", nullptr, nullptr, [](Options &o) { o.echo = false; }},
    {"--no-check", nullptr, nullptr, [](Options &o) { o.skipCheck = true; }},
    {"--huge-pages", nullptr, nullptr, [](Options &o) { o.hugePages = true; }},
    {"-q", "--quiet", nullptr, [](Options &o) { o.quiet = true; }},
    {"--tokenize", nullptr, nullptr, [](Options &o) { o.action = Action::Tokenize; }},
    {"--detokenize", nullptr, nullptr, [](Options &o) { o.action = Action::Detokenize; }},
    {"--memory", nullptr, nullptr, [](Options &o) { o.action = Action::Memory; }},
    {"--version", nullptr, nullptr, [](Options &o) { o.action = Action::Version; }},
    {"-h", "--help", nullptr, [](Options &o) { o.action = Action::Help; }},
};

static const Option *findOption(std::string_view name) {
  for (const Option &option : table)
    if (name == option.name || (option.longName && name == option.longName))
      return &option;
  return nullptr;
}

Status parseOptions(int count, char **arguments, Options &options) {
  for (int i = 1; i < count; ++i) {
    std::string name = arguments[i];
    size_t equals = name.compare(0, 2, "--") == 0 ? name.find('=') : std::string::npos;
    const Option *option = findOption(std::string_view(name).substr(0, equals));
    if (!option)
      return wrongUsage("unknown option '" + name + "'");
    options.given.push_back({option->name, option->kinds});
    if (!option->read) {
      if (equals != std::string::npos)
        return wrongUsage(std::string("option '") + option->name + "' takes no value");
      option->set(options);
      continue;
    }
    if (equals == std::string::npos && ++i == count)
      return wrongUsage("option '" + name + "' needs a value");
    std::string value = equals == std::string::npos ? arguments[i] : name.substr(equals + 1);
    if (const char *expected = option->read(value, options))
      return wrongUsage(std::string("option '") + option->name + "' has the value '" + value + "', expected " +
                        expected);
  }
  bool asksFacts = options.action == Action::Help || options.action == Action::Version;
  return asksFacts ? Status() : checkOptions(options);
}

}  // namespace talc::program
