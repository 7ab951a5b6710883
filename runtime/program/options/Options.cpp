// SPDX-License-Identifier: Apache-2.0
// Parses the command line by the table of options, and checks what options mean together.
#include "runtime/NearestWord.h"
#include "runtime/program/options/OptionTable.h"
#include "runtime/program/output/VectorFile.h"

#include <algorithm>
#include <string_view>

namespace talc::program {

static Status wrongUsage(const std::string &what) {
  return Status::failure(TALC_ERROR_USAGE, "command line: %s; see --help", what.c_str());
}

bool Options::writesVectors() const {
  return isVectorFileName(outputFile);
}

static Status checkPrompts(const Options &options) {
  size_t ids = 0, standardInputs = options.inputFile == "-";
  for (const PromptSource &prompt : options.prompts) {
    ids += prompt.kind == PromptSource::Ids;
    standardInputs += prompt.kind == PromptSource::File && prompt.text == "-";
    if (prompt.kind == PromptSource::Ids && prompt.pair)
      return wrongUsage("--pair needs a text: --text TEXT --pair TEXT");
  }
  if (ids > 0 && ids < options.prompts.size())
    return wrongUsage("text prompts and --ids cannot be mixed");
  if (standardInputs > 1)
    return wrongUsage("standard input can be read only once");
  if (options.prompts.empty() && options.inputFile.empty())
    return wrongUsage("a prompt is missing: -p TEXT, -f FILE, --ids 5,7,9 or --input FILE");
  if (!options.prompts.empty() && !options.inputFile.empty())
    return wrongUsage("--input cannot be combined with -p, --text, -f or --ids");
  return {};
}

static Status checkPrefix(const Options &options) {
  if (!options.prefixText)
    return {};
  if (options.prefix)
    return wrongUsage("--prefix-text cannot be combined with --prefix");
  if (options.usesIds() || options.action != Action::Evaluate)
    return wrongUsage("--prefix-text needs prompts that are texts: -p TEXT, -f FILE or --input FILE");
  return {};
}

static Status checkFiles(const Options &options) {
  bool hasInput = !options.inputFile.empty();
  if (!hasInput && !options.outputFile.empty() && !options.writesVectors())
    return wrongUsage("--output needs --input FILE");
  if (options.json && (options.writesTensors() || options.action != Action::Evaluate))
    return wrongUsage("--json cannot be combined with --logits, --hidden or another action");
  if (options.json && options.writesVectors())
    return wrongUsage("--json cannot be combined with an --output that is a .npy or .safetensors file");
  if (options.writesTensors() && options.writesVectors())
    return wrongUsage("--output cannot be combined with --logits or --hidden");
  if (hasInput && options.writesTensors())
    return wrongUsage("--input cannot be combined with --logits or --hidden");
  if (hasInput && options.action != Action::Evaluate)
    return wrongUsage("--input cannot be combined with another action");
  if (options.writesTensors() && options.action != Action::Evaluate)
    return wrongUsage((options.logitsFile.empty() ? std::string("--hidden") : "--logits") +
                      " cannot be combined with another action");
  return {};
}

static Status checkSearch(const Options &options) {
  const SettingOverrides &given = options.settings;
  bool searches = given.beams.value_or(1) > 1, samples = given.temperature.value_or(0) > 0 || filtersTokens(given);
  if (searches && samples)
    return wrongUsage("--beams cannot be combined with sampling (" + optionNames(artifact::OptionGroup::Sampling) +
                      ")");
  if (searches && options.ignoreEnd)
    return wrongUsage("--beams cannot be combined with --ignore-eos");
  if (searches && !options.stops.empty())
    return wrongUsage("--beams cannot be combined with --stop");
  if (!options.stops.empty() && options.usesIds())
    return wrongUsage("--stop needs prompts that are texts: -p TEXT, -f FILE or --input FILE");
  if (searches && options.writesTensors())
    return wrongUsage("--beams cannot be combined with --logits or --hidden");
  if (given.minNewTokens && given.newTokens && *given.minNewTokens > *given.newTokens)
    return wrongUsage("--min-tokens is above -n");
  return {};
}

static Status checkOptions(const Options &options) {
  if (options.action == Action::Memory || options.action == Action::Info)
    return {};
  if (Status status = checkPrompts(options); status.failed())
    return status;
  if (Status status = checkFiles(options); status.failed())
    return status;
  if (Status status = checkPrefix(options); status.failed())
    return status;
  if (options.action == Action::Tokenize && options.usesIds())
    return wrongUsage("--tokenize needs text: -p TEXT or -f FILE");
  if (options.sourceLanguage && options.usesIds())
    return wrongUsage("--source-lang needs texts: -p TEXT, -f FILE or --input FILE");
  if (options.action == Action::Detokenize && !options.usesIds())
    return wrongUsage("--detokenize needs --ids 5,7,9");
  return checkSearch(options);
}

static bool hasResult(const talc_model_info &info, bool hidden) {
  for (int32_t i = 0; i < info.result_count; ++i)
    if ((info.results[i].kind == TALC_RESULT_HIDDEN) == hidden)
      return true;
  return false;
}

unsigned kindSet(const talc_model_info &info) {
  return info.kind == TALC_MODEL_ENCODER           ? forEncoders
         : info.kind == TALC_MODEL_ENCODER_DECODER ? forTranslators
                                                   : forDecoders;
}

std::string findMismatch(const GivenOption &option, const talc_model_info &info) {
  const std::string &name = option.name;
  const char *kind = info.kind == TALC_MODEL_ENCODER           ? "an encoder, which generates no text"
                     : info.kind == TALC_MODEL_ENCODER_DECODER ? "an encoder-decoder"
                                                               : "a decoder";
  if (!(option.kinds & kindSet(info)))
    return "option '" + name + "' is not for this model: it is " + kind;
  if ((name == "--prefix" || name == "--prefix-text") && !info.uses_prefix)
    return "option '" + name + "' is not for this model: its tokens never see later ones";
  if ((name == "--source-lang" || name == "--target-lang") && info.language_count == 0)
    return "option '" + name + "' is not for this model: its tokenizer knows no languages";
  if (name == "--logits" && !hasResult(info, false))
    return "option '--logits' is not for this model: it has hidden states only";
  if ((name == "--hidden" || name == "--pool" || name == "--normalize") && !hasResult(info, true))
    return "options '--hidden' and '--pool' are not for this model: it does not return hidden states";
  return {};
}

// `name`: the option that names the language.
static Status checkLanguage(const char *name, const std::optional<std::string> &language, const talc_model_info &info) {
  std::vector<std::string> languages(info.languages, info.languages + info.language_count);
  if (!language || std::find(languages.begin(), languages.end(), *language) != languages.end())
    return {};
  std::string list;
  for (const std::string &known : languages)
    list += (list.empty() ? "" : ", ") + known;
  return wrongUsage("option '" + std::string(name) + "' names '" + *language + "'" + suggestion(*language, languages) +
                    ", which is not a language of this model: it knows " + list);
}

Status checkKind(const Options &options, const talc_model_info &info) {
  for (const GivenOption &option : options.givenOptions)
    if (std::string mismatch = findMismatch(option, info); !mismatch.empty())
      return wrongUsage(mismatch);
  if (Status status = checkLanguage("--source-lang", options.sourceLanguage, info); status.failed())
    return status;
  if (Status status = checkLanguage("--target-lang", options.targetLanguage, info); status.failed())
    return status;
  bool poolsText = options.pool ? *options.pool != TALC_EMBEDDING_OWN : info.pooling != TALC_POOLING_NONE;
  if (options.writesVectors() && !hasResult(info, true))
    return wrongUsage("options '--hidden' and '--pool' are not for this model: it does not return hidden states");
  if (options.writesVectors() && !poolsText)
    return wrongUsage("a .npy or .safetensors file after --output has embeddings of texts; give --pool P, other than "
                      "none");
  return {};
}

// ---- Parsing

// Lists all names of options, for a message about an unknown one.
static std::vector<std::string> listNames(const std::vector<OptionSection> &sections) {
  std::vector<std::string> names;
  for (const OptionSection &section : sections)
    for (const Option &option : section.options)
      names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

static const Option *findOption(const std::vector<OptionSection> &sections, std::string_view name) {
  for (const OptionSection &section : sections)
    for (const Option &option : section.options)
      if (std::find(option.names.begin(), option.names.end(), name) != option.names.end())
        return &option;
  return nullptr;
}

// Parses the option at `arguments[at]`, and moves `at` to its value if that is an argument of its own.
static Status parseOption(const std::vector<OptionSection> &sections, int count, char **arguments, int &at,
                          Options &options) {
  std::string name = arguments[at];
  size_t equals = name.compare(0, 2, "--") == 0 ? name.find('=') : std::string::npos;
  const Option *option = findOption(sections, std::string_view(name).substr(0, equals));
  if (!option)
    return wrongUsage("unknown option '" + name + "'" + suggestion(name.substr(0, equals), listNames(sections)));
  const std::string &knownName = option->names.front();
  options.givenOptions.push_back({knownName, option->kinds});
  if (!option->value && equals != std::string::npos)
    return wrongUsage("option '" + knownName + "' takes no value");
  if (option->value && equals == std::string::npos && ++at == count)
    return wrongUsage("option '" + name + "' needs a value");
  std::string value = !option->value ? "" : equals == std::string::npos ? arguments[at] : name.substr(equals + 1);
  std::string expected = option->read(value);
  if (!expected.empty())
    return wrongUsage("option '" + knownName + "' has the value '" + value + "', expected " + expected);
  return {};
}

Status parseOptions(int count, char **arguments, Options &options) {
  const std::vector<OptionSection> sections = listOptions(options);
  for (int i = 1; i < count; ++i)
    if (Status status = parseOption(sections, count, arguments, i, options); status.failed())
      return status;
  bool asksFacts =
      options.action == Action::Help || options.action == Action::Version || options.action == Action::Devices;
  return asksFacts ? Status() : checkOptions(options);
}

}  // namespace talc::program
