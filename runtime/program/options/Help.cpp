// SPDX-License-Identifier: Apache-2.0
// The text of --help.
#include "runtime/program/options/OptionTable.h"

namespace talc::program {

static const char *const usage = R"(: a language model compiled by talc

usage:
  APP -p TEXT                           decoder: continue a text
  APP -p TEXT                           encoder-decoder: the text that answers to it, such as its translation
  APP --text TEXT                       encoder: its embedding, the words for its masks, or its class
  APP --input FILE --output FILE        the same for every line of a file
  APP --tokenize -p TEXT                print the ids of a text
  APP --detokenize --ids 5,7,9          print the text of ids
  APP --memory                          print the exact memory needed
  APP --devices                         list what the model can run on

)";

static const char *const examples =
    R"(exit status: 0 success, 1 error, 2 wrong command line. Results go to standard output, all else to standard error.
environment: TALC_CPU_LEVEL=v2|v3|v4 uses code for a lower level than the processor's.

examples:
  decoder:          APP -p "Once there was" -n 200 --temp 0.8 --top-p 0.9 -s 42
                    APP -p "First story" -p "Second story" -n 50 --beams 4
                    APP --ids 1,403,407 --logits logits.safetensors
  encoder-decoder:  APP -p "Él tiene la niña cada día." --beams 4
                    APP --input spanish.txt --output english.txt
  encoder:          APP --text "The sun was [MASK]." --top 5
                    APP --text "a text" --text "another text" --pool mean
                    APP --input texts.txt --output vectors.txt --pool cls
)";

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

std::string helpText(const std::string &program) {
  Options unused;
  std::string text = usage;
  for (const OptionSection &section : listOptions(unused))
    text += sectionText(section);
  text += examples;
  std::string result = program + text;
  for (size_t at = program.size(); (at = result.find("APP", at)) != std::string::npos; at += program.size())
    result.replace(at, 3, program);
  return result;
}

}  // namespace talc::program
