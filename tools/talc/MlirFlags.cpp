// SPDX-License-Identifier: Apache-2.0
// Registers MLIR's flags and parses them with LLVM's command line library.
#include "tools/talc/MlirFlags.h"

#include "compiler/Pipeline.h"
#include "compiler/passes/RegisterPasses.h"
#include "runtime/NearestWord.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
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
  const auto &registered = llvm::cl::getRegisteredOptions();
  for (const auto &option : registered)  // LLVM's own flags are accepted, but nobody means them
    if (option.first.starts_with("mlir-"))
      others.push_back("--" + option.first.str());
  for (const std::string &flag : flags) {
    llvm::StringRef name = llvm::StringRef(flag).split('=').first;
    if (!name.consume_front("--") && !name.consume_front("-"))
      return fmt::format("unexpected argument '{}'", flag);
    if (name.empty() || !registered.contains(name))
      return fmt::format("unknown option '{}'{}", flag,
                         suggestion(llvm::StringRef(flag).split('=').first.str(), others));
  }
  return "";
}

// The passes of all stages; none if the target is unknown.
static std::vector<std::string> passNames(const std::string &target) {
  auto targets = targets::parseTargets(target);
  if (!targets) {
    llvm::consumeError(targets.takeError());
    return {};
  }
  mlir::OpPassManager passes(mlir::ModuleOp::getOperationName());
  for (Stage stage : allStages)
    addStage(passes, stage, {"checkpoint", targets->front()});
  std::vector<std::string> names;
  for (const mlir::Pass &pass : passes.getPasses())
    names.push_back(pass.getArgument().str());
  return names;
}

// Returns an error if the flag names a pass that does not exist, or an empty text.
static std::string findUnknownPass(llvm::StringRef flag, const std::string &target) {
  auto [name, value] = flag.ltrim('-').split('=');
  bool namesPass = name == "mlir-print-ir-before" || name == "mlir-print-ir-after";
  if (!namesPass || mlir::PassInfo::lookup(value) || mlir::PassPipelineInfo::lookup(value))
    return "";
  return fmt::format("--{}: unknown pass '{}'{}", name.str(), value.str(), suggestion(value.str(), passNames(target)));
}

std::string applyFlags(const std::vector<std::string> &flags, const std::string &target) {
  if (flags.empty())
    return "";
  for (const std::string &flag : flags)
    if (std::string problem = findUnknownPass(flag, target); !problem.empty())
      return problem;
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
