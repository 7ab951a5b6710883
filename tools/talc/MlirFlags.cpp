// SPDX-License-Identifier: Apache-2.0
// Registers MLIR's flags and parses them with LLVM's command line library.
#include "tools/talc/MlirFlags.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"

#include <fmt/format.h>

namespace talc::tools {

static void registerFlags() {
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
}

std::string findUnknownFlag(const std::vector<std::string> &flags) {
  registerFlags();
  const auto &known = llvm::cl::getRegisteredOptions();
  for (const std::string &flag : flags) {
    llvm::StringRef name = llvm::StringRef(flag).split('=').first;
    if (!name.consume_front("--") && !name.consume_front("-"))
      return fmt::format("unexpected argument '{}'", flag);
    if (name.empty() || !known.contains(name))
      return fmt::format("unknown option '{}'", flag);
  }
  return "";
}

bool applyFlags(const std::vector<std::string> &flags) {
  std::vector<const char *> arguments = {"talc compile"};
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());
  return llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data(), "", &llvm::errs());
}

llvm::LogicalResult configurePasses(mlir::PassManager &passes) {
  mlir::applyDefaultTimingPassManagerCLOptions(passes);
  return mlir::applyPassManagerCLOptions(passes);
}

}  // namespace talc::tools
