// SPDX-License-Identifier: Apache-2.0
// The options of talc perplexity.
#include "tools/talc/Commands.h"
#include "tools/talc/LayerErrors.h"
#include "tools/talc/perplexity/Perplexity.h"

#include <cstdio>
#include <iostream>
#include <memory>

namespace talc::tools {

static const char *const examples = R"(Examples:
  talc perplexity ./app text.txt                        perplexity of a text; lower is better
  talc perplexity ./q4 text.txt --against ./f32         also KL divergence from another model
  talc perplexity ./q4 text.txt --against ./f32 --layers    and the error of each layer

Windows and errors are those of llama.cpp's perplexity, so that numbers compare.)";

Action addPerplexity(CLI::App &app, const std::string &programDirectory) {
  auto options = std::make_shared<perplexity::Options>();
  CLI::App *command = app.add_subcommand("perplexity", "measure how well a compiled model predicts a text");
  command->set_help_flag("-h,--help", "print this help");
  command->footer(examples);
  command->add_option("APP", options->app, "the output of talc compile")->required();
  command->add_option("FILE", options->text, "a UTF-8 text")->required();
  command->add_option("--against", options->against, "another compiled model of the same vocabulary, such as in f32");
  auto layers = std::make_shared<bool>(false);
  command->add_flag(
      "--layers", *layers,
      "with --against: also the relative error of each layer's output; both models are compiled again, from "
      "the sources and options that they name");
  command->add_option("-c,--ctx-size", options->context, "tokens of a window (default: 512, or the limit of the model)")
      ->check(CLI::Range(4, 1 << 20));
  command->add_option("--chunks", options->windows, "windows (default: all of the text)")
      ->check(CLI::Range(1, 1 << 30));
  command->add_option("-t,--threads", options->threads, "threads (default: the cores that this process may use)")
      ->check(CLI::Range(1, 4096));
  return [options, layers, programDirectory] {
    options->progress = "perplexity";
    perplexity::Results results;
    std::string error = *layers && options->against.empty()
                            ? "error[T0701]: talc perplexity: --layers: name another program by --against"
                        : *layers ? compareLayers(programDirectory, *options, results)
                                  : perplexity::measure(*options, results);
    if (!error.empty()) {
      fprintf(stderr, "%s\n", error.c_str());
      return static_cast<int>(error.find("error[T0701]") == 0 ? wrongUsage : failed);
    }
    std::cout << perplexity::format(results, options->against);
    return static_cast<int>(success);
  };
}

}  // namespace talc::tools
