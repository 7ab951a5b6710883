// SPDX-License-Identifier: Apache-2.0
// Registers MLIR's flags and parses them with LLVM's command line library.
#include "tools/talc/MlirFlags.h"

#include "compiler/passes/Passes.h"
#include "runtime/program/NearestWord.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Support/Timing.h"
#include "llvm/Support/CommandLine.h"

#include <fmt/format.h>

namespace talc::tools {

static void registerFlags(bool used) {
  if (used) {  // flags name passes
    mlir::registerAllPasses();
    registerTalcPasses();
  }
  mlir::registerAsmPrinterCLOptions();
  mlir::registerMLIRContextCLOptions();
  mlir::registerPassManagerCLOptions();
  mlir::registerDefaultTimingManagerCLOptions();
}

std::string findUnknownFlag(const std::vector<std::string> &flags, std::vector<std::string> others) {
  registerFlags(!flags.empty());
  const auto &known = llvm::cl::getRegisteredOptions();
  for (const auto &option : known)
    others.push_back("--" + option.first.str());
  for (const std::string &flag : flags) {
    llvm::StringRef name = llvm::StringRef(flag).split('=').first;
    if (!name.consume_front("--") && !name.consume_front("-"))
      return fmt::format("unexpected argument '{}'", flag);
    if (name.empty() || !known.contains(name))
      return fmt::format("unknown option '{}'{}", flag,
                         program::suggestion(llvm::StringRef(flag).split('=').first.str(), others));
  }
  return "";
}

std::string applyFlags(const std::vector<std::string> &flags) {
  if (flags.empty())
    return "";
  std::vector<const char *> arguments = {"talc compile"};
  for (const std::string &flag : flags)
    arguments.push_back(flag.c_str());
  std::string messages;
  llvm::raw_string_ostream stream(messages);
  if (llvm::cl::ParseCommandLineOptions(static_cast<int>(arguments.size()), arguments.data(), "", &stream))
    return "";
  llvm::StringRef text = llvm::StringRef(messages).split('\n').first;
  text.consume_front("talc compile: ");
  return text.empty() ? "a flag of MLIR has a wrong value" : text.str();  // LLVM itself has said which
}

llvm::LogicalResult configurePasses(mlir::PassManager &passes) {
  mlir::applyDefaultTimingPassManagerCLOptions(passes);
  return mlir::applyPassManagerCLOptions(passes);
}

}  // namespace talc::tools
