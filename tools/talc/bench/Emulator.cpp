// SPDX-License-Identifier: Apache-2.0
// The app is a program, and its own command line evaluates the token.
#include "tools/talc/bench/Emulator.h"

#include "llvm/Support/Program.h"

#include <algorithm>

namespace talc::bench {

Status emulateToken(const App &app, std::string &outcome) {
  if (app.list.target.empty()) {
    outcome = "nothing ran, which --device would do on such a GPU";
    return {};
  }
  std::string emulator = "qemu-" + app.list.foreign;
  std::replace(emulator.begin() + 5, emulator.end(), '-', '_');  // x86-64 is qemu-x86_64
  auto program = llvm::sys::findProgramByName(emulator);
  if (!program) {
    outcome = emulator + " is not installed, so nothing ran";
    return {};
  }
  std::vector<llvm::StringRef> arguments = {*program, app.path, "-q", "-t", "1", "--ids", "0"};
  if (!app.list.encoder)
    arguments.insert(arguments.end(), {"-n", "1"});
  std::optional<llvm::StringRef> nothing = llvm::StringRef();  // /dev/null
  std::string reason;
  int status =
      llvm::sys::ExecuteAndWait(*program, arguments, std::nullopt, {nothing, nothing, std::nullopt}, 0, 0, &reason);
  if (status != 0)
    return Status::failure(TALC_ERROR_CPU, "%s: fails under %s: %s", app.path.c_str(), emulator.c_str(),
                           reason.empty() ? ("exit status " + std::to_string(status)).c_str() : reason.c_str());
  outcome = "a token ran under " + emulator;
  return {};
}

}  // namespace talc::bench
