// SPDX-License-Identifier: Apache-2.0
// The table of options. Settings of generation come from a table of their own, which frontends and compiler share.
#include "runtime/program/options/OptionTable.h"

#include <random>

namespace talc::program {

using artifact::OptionGroup;
using Read = std::function<std::string(const std::string &)>;
using Rows = std::vector<Option>;

constexpr unsigned forGenerators = forDecoders | forTranslators;
constexpr int32_t maxCount = 1024;  // threads, lines, words

// Handles an option whose value cannot be wrong.
static Read flag(bool &target, bool value = true) {
  return [&target, value](const std::string &) { return target = value, std::string(); };
}

static Read action(Options &target, Action action) {
  return [&target, action](const std::string &) { return target.action = action, std::string(); };
}

static Read path(std::string &target) {
  return [&target](const std::string &value) { return target = value, value.empty() ? "a path" : std::string(); };
}

template <typename Target> static Read text(Target &target) {
  return [&target](const std::string &value) { return target = value, std::string(); };
}

template <typename Target> static Read number(Target &target, int32_t minimum, int32_t maximum) {
  return [&target, minimum, maximum](const std::string &value) { return readInteger(value, minimum, maximum, target); };
}

static Read prompt(Options &target, PromptSource::Kind kind) {
  return [&target, kind](const std::string &value) -> std::string {
    PromptSource source = {kind, value, {}};
    if (kind == PromptSource::Text && value == "-")
      source.kind = PromptSource::File;
    if (kind == PromptSource::Ids && !parseIds(value, source.ids))
      return "token ids such as 5,7,9";
    target.prompts.push_back(source);
    return {};
  };
}

static Read pair(Options &target) {
  return [&target](const std::string &value) -> std::string {
    if (target.prompts.empty())
      return "to follow the text that it is the second of";
    target.prompts.back().pair = value;
    return {};
  };
}

static Read decoderIds(Options &target) {
  return [&target](const std::string &value) -> std::string {
    if (target.prompts.empty())
      return "to follow the source that it answers to";
    target.prompts.back().decoderIds.clear();
    return parseIds(value, target.prompts.back().decoderIds) ? "" : "token ids such as 5,7,9";
  };
}

static Read pooling(Options &target) {
  return [&target](const std::string &value) -> std::string {
    constexpr std::pair<const char *, talc_embedding_pooling> names[] = {
        {"none", TALC_EMBEDDING_OWN},
        {"cls", TALC_EMBEDDING_FIRST},
        {"mean", TALC_EMBEDDING_MEAN},
        {"max", TALC_EMBEDDING_MAX},
        {"lasttoken", TALC_EMBEDDING_LAST},
        {"weightedmean", TALC_EMBEDDING_WEIGHTED_MEAN},
        {"mean_sqrt_len_tokens", TALC_EMBEDDING_MEAN_SQRT_LENGTH}};
    for (auto [name, pooling] : names)
      if (value == name)
        return target.pool = pooling, std::string();
    return "cls, mean or none (or max, lasttoken, weightedmean, mean_sqrt_len_tokens)";
  };
}

static Read inputFormat(Options &target) {
  return [&target](const std::string &value) -> std::string {
    if (value != "text" && value != "jsonl")
      return "text or jsonl";
    target.readsJson = value == "jsonl";
    return {};
  };
}

static Read seed(Options &target) {
  return [&target](const std::string &value) -> std::string {
    uint64_t seed = 0;
    target.drawsSeed = value == "random";
    if (!target.drawsSeed && !parseInteger(value, 0, UINT64_MAX, seed))
      return "a number from 0 to 2^64 - 1, or random";
    std::random_device random;
    target.seed = target.drawsSeed ? uint64_t(random()) << 32 | random() : seed;
    return {};
  };
}

static Read stop(Options &target) {
  return [&target](const std::string &value) -> std::string {
    if (value.empty() || value.find('\0') != std::string::npos)
      return "a text";
    target.stops.push_back(value);
    return {};
  };
}

static void addSettings(OptionGroup group, Options &target, Rows &rows) {
  artifact::forEachSetting(target.settings, [&](const artifact::Setting &setting, auto &value) {
    const artifact::SettingOption &option = setting.option;
    if (!option.name || option.group != group)
      return;
    auto read = [&setting, &value](const std::string &text) { return readSetting(setting.range, text, value); };
    rows.push_back({{option.name}, option.value, option.help, read, forGenerators});
    if (option.longName)
      rows.back().names.push_back(option.longName);
  });
}

static OptionSection listTexts(Options &o) {
  return {
      "texts (several are evaluated together, as one batch without padding):",
      {
          {{"-p", "--prompt", "--text"}, "TEXT", "a text; -p - reads standard input", prompt(o, PromptSource::Text)},
          {{"-f", "--file"},
           "FILE",
           "read a text from a file; one newline at its end (LF or CR LF) is dropped",
           prompt(o, PromptSource::File)},
          {{"--ids"},
           "IDS",
           "token ids instead of text; nothing is added to them; results are ids, too",
           prompt(o, PromptSource::Ids)},
          {{"--input"},
           "FILE",
           "a text per line, - for standard input; results are lines in the same order. Lines of like\n"
           "length are evaluated together; a result does not depend on the others. Lines of a pipe or\n"
           "a terminal are evaluated as they come",
           path(o.inputFile)},
          {{"--output"},
           "FILE",
           "where results of --input go; the file appears when it is complete. Embeddings that go to a .npy\n"
           "or .safetensors file ('embeddings') are one tensor, whose rows are texts; a line without a\n"
           "result has NaN",
           path(o.outputFile)},
          {{"--json"},
           nullptr,
           "print an object of JSON for each text, in a line: index, input, and text, embedding, classes, ...",
           flag(o.json)},
          {{"--input-format"},
           "F",
           "text, or jsonl: lines of --input are strings of JSON or objects: {\"text\": \"...\", \"pair\": \"...\"}\n"
           "(default: jsonl for files called .jsonl or .ndjson, else text)",
           inputFormat(o)},
          {{"--batch"}, "N", "lines of --input that are evaluated together (default 32)", number(o.batch, 1, maxCount)},
      },
      ""};
}

static OptionSection listGeneration(Options &o) {
  OptionSection section = {"generating text (decoders and encoder-decoders):", {}, ""};
  Rows &rows = section.options;
  addSettings(OptionGroup::Length, o, rows);
  rows.push_back({{"--ignore-eos"},
                  nullptr,
                  "go on after an end token or a stop text of the model (also --no-eos)",
                  flag(o.ignoreEnd),
                  forGenerators});
  // The same option with its other name.
  rows.push_back({{"--ignore-eos", "--no-eos"}, nullptr, nullptr, flag(o.ignoreEnd), forGenerators});
  rows.push_back({{"--stop"},
                  "TEXT",
                  "end before TEXT, which is not printed; may be given several times, and adds to the model's own",
                  stop(o),
                  forGenerators});
  rows.push_back({{"--no-bos"},
                  nullptr,
                  "without the begin tokens that the tokenizer puts before a prompt",
                  flag(o.addsBegin, false),
                  forGenerators});
  rows.push_back({{"--no-echo"}, nullptr, "do not print the prompt before its continuation", flag(o.echo, false)});
  addSettings(OptionGroup::Repetition, o, rows);
  rows.push_back({{"--prefix"},
                  "N",
                  "the first N tokens of the prompt see each other (default: the whole prompt), for models that\n"
                  "were trained so",
                  number(o.prefix, 0, INT32_MAX),
                  forDecoders});
  rows.push_back({{"--prefix-text"},
                  "TEXT",
                  "put TEXT before every prompt and every line of --input; its tokens see each other, those of the\n"
                  "prompt only what is before them",
                  text(o.prefixText),
                  forDecoders});
  return section;
}

static OptionSection listSampling(Options &o) {
  OptionSection section = {"sampling (defaults come from the model; " + optionNames(OptionGroup::Sampling, " or ") +
                               " turn sampling on):",
                           {},
                           "  The order is: repeat penalty, " + settingTitles(OptionGroup::Sampling) + ".\n"};
  addSettings(OptionGroup::Sampling, o, section.options);
  section.options.push_back({{"-s", "--seed"},
                             "N",
                             "seed of the random generator (default 0); each text starts with it, so that its result\n"
                             "does not depend on the others; random: a new one, which the summary tells",
                             seed(o),
                             forGenerators});
  return section;
}

static OptionSection listBeams(Options &o) {
  OptionSection section = {"beam search (defaults come from the model):", {}, ""};
  addSettings(OptionGroup::Beams, o, section.options);
  return section;
}

static OptionSection listLanguages(Options &o) {
  return {"languages (models that translate between several):",
          {
              {{"--source-lang"},
               "CODE",
               "the language of the texts (default: as the model's files say)",
               text(o.sourceLanguage),
               forTranslators},
              {{"--target-lang"},
               "CODE",
               "the language to translate to (default: as the model's files say, else the model chooses)",
               text(o.targetLanguage),
               forTranslators},
          },
          ""};
}

static OptionSection listEncoders(Options &o) {
  return {"encoders (a text that has the model's mask token is filled, unless --pool is given):",
          {
              {{"--pair"}, "TEXT", "the second text of a pair; follows the first", pair(o), forEncoders},
              {{"--pool"},
               "P",
               "print embeddings: cls, of the first token; mean, of all tokens; none, of each token; or max,\n"
               "lasttoken, weightedmean, mean_sqrt_len_tokens; without the layers that the model has after its\n"
               "own pooling (default: that pooling and these layers)",
               pooling(o),
               forEncoders},
              {{"--normalize"}, nullptr, "divide embeddings by their length", flag(o.normalizes), forEncoders},
              {{"--prompt-name"},
               "NAME",
               "put the model's prompt of this name, such as query, before every text; \"\" puts none there\n"
               "(default: the model's default_prompt_name)",
               text(o.promptName),
               forEncoders},
              {{"--top"},
               "N",
               "print the N likeliest words of a mask (default 3) or classes (default all)",
               number(o.top, 1, maxCount),
               forEncoders},
          },
          ""};
}

static OptionSection listChecks(Options &o) {
  return {"checks:",
          {
              {{"--logits"},
               "FILE",
               "write logits of all tokens of the prompt, or of all masks or classes, as safetensors: 'logits',\n"
               "or 'logits.0', 'logits.1', ... for several texts; FILE appears when complete",
               path(o.logitsFile)},
              {{"--hidden"},
               "FILE",
               "the same with hidden states of an encoder: 'hidden'",
               path(o.hiddenFile),
               forEncoders},
              {{"--decoder-ids"},
               "IDS",
               "how the text of an encoder-decoder begins, instead of the start token; follows its source",
               decoderIds(o),
               forTranslators},
          },
          ""};
}

static OptionSection listOthers(Options &o) {
  return {"others:",
          {
              {{"-t", "--threads"},
               "N",
               "threads (default: physical cores that may be used, without slow ones beside fast ones)",
               number(o.threads, 1, maxCount)},
              {{"--device"},
               "D",
               "auto: a GPU if the model was compiled for one and it can be used, else the CPU\n"
               "(default); or cpu, cuda, cuda:1, vulkan, ...",
               text(o.device)},
              {{"--devices"},
               nullptr,
               "list what there is to run on, and why it cannot be used",
               action(o, Action::Devices)},
              {{"-m", "--model"}, "FILE", "use the model in another artifact", path(o.model)},
              {{"--no-check"}, nullptr, "do not compare the checksum of the weights", flag(o.skipCheck)},
              {{"--huge-pages"},
               nullptr,
               "copy the weights into huge pages, instead of mapping the file: generation may become some\n"
               "percent faster, starting takes longer",
               flag(o.hugePages)},
              {{"-q", "--quiet"}, nullptr, "no summary and no progress on standard error", flag(o.quiet)},
              {{"--tokenize"}, nullptr, nullptr, action(o, Action::Tokenize)},
              {{"--detokenize"}, nullptr, nullptr, action(o, Action::Detokenize)},
              {{"--memory"}, nullptr, nullptr, action(o, Action::Memory)},
              {{"--info"}, nullptr, nullptr, action(o, Action::Info)},
              {{"--version"}, nullptr, nullptr, action(o, Action::Version)},
              {{"-h", "--help"}, nullptr, nullptr, action(o, Action::Help)},
          },
          "      --version, -h, --help\n"};
}

std::vector<OptionSection> listOptions(Options &target) {
  return {listTexts(target),     listGeneration(target), listSampling(target), listBeams(target),
          listLanguages(target), listEncoders(target),   listChecks(target),   listOthers(target)};
}

}  // namespace talc::program
