// SPDX-License-Identifier: Apache-2.0
// talc: the command. Finds the subcommand and runs it.
#include "runtime/NearestWord.h"
#include "tools/talc/Commands.h"
#include "tools/talc/ExitStatus.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <map>
#include <unistd.h>

using namespace talc::tools;

static const char *const examples = R"(Examples:
  talc compile tales-gpt2 -o app     compile a Hugging Face directory for this machine
  ./app -p "Once there was"          run it
  talc compile --help                all options of a command
  talc explain T0201                 cause and remedy of an error)";

// The directory of this program, which holds its parts.
static std::string programDirectory() {
  char path[4096];
  ssize_t length = readlink("/proc/self/exe", path, sizeof(path));
  std::string program(path, length > 0 ? length : 0);
  return program.substr(0, program.find_last_of('/'));
}

// `command`: talc, or talc and a subcommand.
static int usageError(const std::string &command, const CLI::ParseError &error) {
  std::string text = error.what();
  fprintf(stderr, "error[T0701]: %s: %s; see %s --help\n", command.c_str(), text.substr(0, text.find('\n')).c_str(),
          command.c_str());
  return wrongUsage;
}

static int flushOutput() {
  if (std::cout.flush())
    return success;
  fprintf(stderr, "error[T0505]: standard output: cannot be written: %s\n", strerror(errno));
  return failed;
}

// llama.cpp's short names of options, which CLI11 would read as -c with a value.
static void spellOut(std::string &word) {
  for (auto [name, full] : {std::pair("-ctk", "--cache-type-k"), {"-ctv", "--cache-type-v"}})
    if (word == name || word.rfind(std::string(name) + "=", 0) == 0)
      word.replace(0, strlen(name), full);
}

// Returns the words after the program's name. `talc help COMMAND` means talc COMMAND --help.
static std::vector<std::string> getWords(int argc, char **argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty() || words.front() != "run")  // whose words are those of a program
    std::for_each(words.begin(), words.end(), spellOut);
  if (words.empty() || words.front() != "help")
    return words;
  return words.size() > 1 ? std::vector<std::string>{words[1], "--help"} : std::vector<std::string>{"--help"};
}

int main(int argc, char **argv) {
  prepareSignals();
  CLI::App app("talc compiles a transformer model to one native file.", "talc");
  app.set_version_flag("-v,--version", "talc " TALC_VERSION, "print the version");
  app.set_help_flag("-h,--help", "print this help");
  app.footer(examples);
  app.require_subcommand(1);
  std::map<std::string, Action> actions;
  actions["compile"] = addCompile(app, programDirectory());
  actions["run"] = addRun(app);
  actions["bench"] = addBench(app, programDirectory());
  actions["perplexity"] = addPerplexity(app, programDirectory());
  actions["tune"] = addTune(app, programDirectory());
  actions["train"] = addTrain(app, programDirectory());
  actions["explain"] = addExplain(app);
  std::vector<std::string> words = getWords(argc, argv);
  const std::string command = words.empty() ? "" : words.front();
  bool isKnown = actions.count(command) > 0;
  if (!command.empty() && command[0] != '-' && !isKnown) {
    fprintf(stderr,
            "error[T0701]: talc: unknown command '%s'%s, expected compile, run, bench, tune, perplexity, train or "
            "explain; see talc --help\n",
            command.c_str(),
            talc::suggestion(command, {"compile", "run", "bench", "tune", "perplexity", "train", "explain"}).c_str());
    return wrongUsage;
  }
  try {
    std::reverse(words.begin(), words.end());
    app.parse(words);
  } catch (const CLI::Success &request) {  // help or version
    app.exit(request);
    return flushOutput();
  } catch (const CLI::ParseError &error) {
    return usageError(isKnown ? "talc " + command : "talc", error);
  }
  return actions[app.get_subcommands().front()->get_name()]();
}
