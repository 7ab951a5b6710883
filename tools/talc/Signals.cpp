// SPDX-License-Identifier: Apache-2.0
// LLVM installs its handlers when the first file is named to it; here they are installed at once, and set right.
#include "tools/talc/Signals.h"

#include "llvm/Support/Signals.h"

#include <csignal>
#include <initializer_list>
#include <unistd.h>
#include <utility>
#include <vector>

namespace talc::tools {

static void endOfPipe() {
  _exit(128 + SIGPIPE);
}

void prepareSignals() {
  signal(SIGXFSZ, SIG_IGN);
  // nohup and shells without job control have some ignored; LLVM would take them for deadly.
  std::vector<std::pair<int, struct sigaction>> ignored;
  for (int number : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE}) {
    struct sigaction action;
    if (sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN)
      ignored.emplace_back(number, action);
  }
  llvm::sys::SetOneShotPipeSignalFunction(endOfPipe);
  llvm::sys::SetInterruptFunction(nullptr);  // installs the handlers
  for (const auto &[number, action] : ignored)
    sigaction(number, &action, nullptr);
}

}  // namespace talc::tools
