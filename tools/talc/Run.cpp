// SPDX-License-Identifier: Apache-2.0
// talc run: starts a compiled model with the arguments that follow its name.
#include "tools/talc/Commands.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace talc::tools {

static int run(const std::vector<std::string> &words) {
  if (words.empty()) {
    fprintf(stderr, "error[T0701]: talc run: APP is missing: the file that talc compile wrote\n");
    return wrongUsage;
  }
  std::vector<char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(const_cast<char *>(word.c_str()));
  arguments.push_back(nullptr);
  execv(arguments[0], arguments.data());
  fprintf(stderr, "error[T0703]: %s: cannot be started: %s; it should be a file that talc compile wrote\n",
          arguments[0], strerror(errno));
  return failed;
}

Action addRun(CLI::App &app) {
  CLI::App *command = app.add_subcommand("run", "run a compiled model");
  command->set_help_flag("-h,--help", "print this help");
  command->footer("Usage: talc run APP [ARGUMENTS...]\n\nExamples:\n  talc run ./app -p \"Once there was\"\n  talc run "
                  "./app --help");
  command->prefix_command();
  return [command] { return run(command->remaining()); };
}

}  // namespace talc::tools
