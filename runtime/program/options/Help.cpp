// SPDX-License-Identifier: Apache-2.0
// The text of --help.
#include "runtime/program/options/OptionTable.h"

#include <algorithm>
#include <utility>

namespace talc::program {

constexpr unsigned allKinds = forDecoders | forEncoders | forTranslators;

// Lines for some kinds of models.
struct Lines {
  const char *text;
  unsigned kinds = allKinds;
};

constexpr Lines usage[] = {
    {": a language model compiled by talc\n\nusage:\n"},
    {"  APP -p TEXT                           decoder: continue a text\n", forDecoders},
    {"  APP -p TEXT                           encoder-decoder: the text that answers to it, such as its translation\n",
     forTranslators},
    {"  APP --text TEXT                       encoder: its embedding, the words for its masks, or its class\n",
     forEncoders},
    {R"(  APP --input FILE --output FILE        the same for every line of a file
  APP --tokenize -p TEXT                print the ids of a text
  APP --detokenize --ids 5,7,9          print the text of ids
  APP --memory                          print the exact memory needed
  APP --info                            print what the model is, and how it was compiled; with --json all of it
  APP --devices                         list what the model can run on

)"},
};

constexpr Lines examples[] = {
    {R"(exit status: 0 success, 1 error, 2 wrong command line. Results go to standard output, all else to standard error.
environment: TALC_CPU_LEVEL=v2|v3|v4 uses code for a lower level than the processor's; TALC_PERF=1 names kernels for perf.

examples:
)"},
    {R"(  decoder:          APP -p "Once there was" -n 200 --temp 0.8 --top-p 0.9 -s 42
                    APP -p "First story" -p "Second story" -n 50 --beams 4
                    APP --ids 1,403,407 --logits logits.safetensors
)",
     forDecoders},
    {R"(  encoder-decoder:  APP -p "Él tiene la niña cada día." --beams 4
                    APP --input spanish.txt --output english.txt
)",
     forTranslators},
    {R"(  encoder:          APP --text "The sun was [MASK]." --top 5
                    APP --text "a text" --text "another text" --pool mean
                    APP --input texts.txt --output vectors.txt --pool cls
)",
     forEncoders},
};

template <size_t count> static std::string join(const Lines (&parts)[count], unsigned kinds) {
  std::string text;
  for (const Lines &lines : parts)
    if (lines.kinds & kinds)
      text += lines.text;
  return text;
}

constexpr size_t indentation = 26;  // of what options do

// "  -n, --predict N         "
static std::string optionHead(const Option &option) {
  std::string head = option.names.front().compare(0, 2, "--") == 0 ? "      " : "  ";
  for (size_t i = 0; i < option.names.size(); ++i)
    head += (i > 0 ? ", " : "") + option.names[i];
  if (option.value)
    head += std::string(" ") + option.value;
  return head.size() < indentation ? head + std::string(indentation - head.size(), ' ') : head + "  ";
}

static std::string sectionText(const OptionSection &section) {
  std::string text = section.title + "\n";
  for (const Option &option : section.options) {
    if (!option.help)
      continue;
    text += optionHead(option);
    for (const char *c = option.help; *c; ++c)
      text += *c == '\n' ? "\n" + std::string(indentation, ' ') : std::string(1, *c);
    text += '\n';
  }
  return text + section.end + "\n";
}

// Removes what the model cannot do, and sections that would only do that.
static void keepOptions(const talc_model_info &info, std::vector<OptionSection> &sections) {
  auto isForOthers = [&](const Option &option) {
    return !findMismatch({option.names.front(), option.kinds}, info).empty();
  };
  for (OptionSection &section : sections)
    section.options.erase(std::remove_if(section.options.begin(), section.options.end(), isForOthers),
                          section.options.end());
  auto isEmpty = [](const OptionSection &section) { return section.options.empty(); };
  sections.erase(std::remove_if(sections.begin(), sections.end(), isEmpty), sections.end());
}

// Lists the languages below the options that name them.
static void addLanguages(const talc_model_info &info, std::vector<OptionSection> &sections) {
  constexpr size_t width = 100;
  for (OptionSection &section : sections) {
    if (section.options.empty() || section.options.front().names.front() != "--source-lang")
      continue;
    std::string line = "  CODE is one of:";
    for (int32_t i = 0; i < info.language_count; ++i) {
      std::string word = std::string(" ") + info.languages[i];
      if (line.size() + word.size() > width)
        section.end += std::exchange(line, "   ") + "\n";
      line += word;
    }
    section.end += line + "\n";
  }
}

std::string helpText(const std::string &program, const talc_model_info *info) {
  Options unused;
  unsigned kinds = info ? kindSet(*info) : allKinds;
  std::vector<OptionSection> sections = listOptions(unused);
  if (info) {
    keepOptions(*info, sections);
    addLanguages(*info, sections);
  }
  std::string text = join(usage, kinds);
  for (const OptionSection &section : sections)
    text += sectionText(section);
  text += join(examples, kinds);
  std::string result = program + text;
  for (size_t at = program.size(); (at = result.find("APP", at)) != std::string::npos; at += program.size())
    result.replace(at, 3, program);
  return result;
}

}  // namespace talc::program
