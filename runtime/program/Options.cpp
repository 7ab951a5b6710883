// SPDX-License-Identifier: Apache-2.0
// Parses the command line from one table of options.
#include "runtime/program/Options.h"

#include <charconv>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <string_view>

namespace talc::program {

static Status usage(const std::string &what) {
  return Status::failure(TALC_ERROR_USAGE, "command line: %s; see --help", what.c_str());
}

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
};

}  // namespace

template <int32_t Options::*Field> static const char *readCount(const std::string &value, Options &options) {
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

template <PromptSource::Kind kind> static const char *readPrompt(const std::string &value, Options &options) {
  PromptSource source = {kind, value, {}};
  if (kind == PromptSource::Text && value == "-")
    source.kind = PromptSource::File;
  if (kind == PromptSource::Ids && !parseIds(value, source.ids))
    return "token ids such as 5,7,9";
  options.prompts.push_back(source);
  return nullptr;
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
    {"-f", "--file", readPrompt<PromptSource::File>, nullptr},
    {"--ids", nullptr, readPrompt<PromptSource::Ids>, nullptr},
    {"-n", "--predict", readNatural<&Options::tokens>, nullptr},
    {"-t", "--threads", readCount<&Options::threads>, nullptr},
    {"-m", "--model", readPath<&Options::model>, nullptr},
    {"-s", "--seed", readSeed, nullptr},
    {"--temp", nullptr, readFloat<&Options::temperature, true, false>, nullptr},
    {"--top-k", nullptr, readNatural<&Options::topK>, nullptr},
    {"--top-p", nullptr, readFloat<&Options::topP, false, true>, nullptr},
    {"--min-p", nullptr, readFloat<&Options::minP, true, true>, nullptr},
    {"--repeat-penalty", nullptr, readFloat<&Options::repeatPenalty, false, false>, nullptr},
    {"--logits", nullptr, readPath<&Options::logitsFile>, nullptr},
    {"--ignore-eos", "--no-eos", nullptr, [](Options &o) { o.ignoreEnd = true; }},
    {"--no-echo", nullptr, nullptr, [](Options &o) { o.echo = false; }},
    {"--no-check", nullptr, nullptr, [](Options &o) { o.skipCheck = true; }},
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

// What fits together only as a whole.
static Status checkOptions(const Options &options) {
  size_t ids = 0, standardInputs = 0;
  for (const PromptSource &prompt : options.prompts) {
    ids += prompt.kind == PromptSource::Ids;
    standardInputs += prompt.kind == PromptSource::File && prompt.text == "-";
  }
  if (ids > 0 && ids < options.prompts.size())
    return usage("text prompts and --ids cannot be mixed");
  if (standardInputs > 1)
    return usage("standard input can be read only once");
  bool needsPrompt = options.action <= Action::Detokenize;
  if (needsPrompt && options.prompts.empty())
    return usage("a prompt is missing: -p TEXT, -f FILE or --ids 5,7,9");
  if (options.action == Action::Tokenize && ids > 0)
    return usage("--tokenize needs text: -p TEXT or -f FILE");
  if (options.action == Action::Detokenize && ids == 0)
    return usage("--detokenize needs --ids 5,7,9");
  if (!options.logitsFile.empty() && options.action != Action::Generate)
    return usage("--logits cannot be combined with another action");
  return {};
}

Status parseOptions(int count, char **arguments, Options &options) {
  for (int i = 1; i < count; ++i) {
    std::string name = arguments[i];
    size_t equals = name.compare(0, 2, "--") == 0 ? name.find('=') : std::string::npos;
    const Option *option = findOption(std::string_view(name).substr(0, equals));
    if (!option)
      return usage("unknown option '" + name + "'");
    if (!option->read) {
      if (equals != std::string::npos)
        return usage(std::string("option '") + option->name + "' takes no value");
      option->set(options);
      continue;
    }
    if (equals == std::string::npos && ++i == count)
      return usage("option '" + name + "' needs a value");
    std::string value = equals == std::string::npos ? arguments[i] : name.substr(equals + 1);
    if (const char *expected = option->read(value, options))
      return usage(std::string("option '") + option->name + "' has the value '" + value + "', expected " + expected);
  }
  bool asksFacts = options.action == Action::Help || options.action == Action::Version;
  return asksFacts ? Status() : checkOptions(options);
}

}  // namespace talc::program
