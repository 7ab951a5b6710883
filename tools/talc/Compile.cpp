// SPDX-License-Identifier: Apache-2.0
// talc compile: loads a model, runs the stages, writes the product.
#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "tools/talc/CompileOptions.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/MlirFlags.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/Remarks.h"
#include "tools/talc/Report.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Process.h"

#include <map>

namespace talc::tools {

static Product productOf(const std::string &emit) {
  static const std::map<std::string, Product> products = {{"exe", Product::Program},
                                                          {"lib", Product::Library},
                                                          {"object", Product::Object},
                                                          {"llvm", Product::Llvm},
                                                          {"ir", Product::Ir}};
  return products.at(emit);
}

// The targets of --target=A,B, no two of one CPU level.
static llvm::Expected<std::vector<targets::Target>> parseTargets(llvm::StringRef list) {
  std::vector<targets::Target> result;
  for (llvm::StringRef name : llvm::split(list, ',')) {
    llvm::Expected<targets::Target> target = targets::parseTarget(name);
    if (!target)
      return target.takeError();
    for (const targets::Target &other : result)
      if (other.level == target->level)
        return makeError(ErrorCode::BadTarget, "--target={}: {} needs the same CPU level as another one of the list",
                         list.str(), name.str());
    result.push_back(std::move(*target));
  }
  return result;
}

// Runs the stages for every target. What comes before stage schedule depends on no target and runs once; `module`
// becomes the program of the first target, the others are returned.
static llvm::Expected<std::vector<Variant>> runTargets(mlir::ModuleOp module, StageRun run,
                                                       const std::vector<targets::Target> &targets) {
  std::vector<Variant> variants;
  if (targets.size() > 1 && run.first < Stage::Schedule && run.last == Stage::Codegen) {
    run.last = Stage::Bufferize;
    if (llvm::Error error = runStages(module, run))
      return std::move(error);
    run.first = Stage::Schedule;
    run.last = Stage::Codegen;
    for (const targets::Target &target : llvm::drop_begin(targets)) {
      variants.push_back({module.clone(), target});
      StageRun further = run;
      further.pipeline.target = target;
      further.listener.stage = [&](llvm::StringRef name) {
        run.listener.beginStage(name.empty() ? "" : name.str() + " " + target.cpu);
      };
      further.dumpDirectory.clear();
      if (llvm::Error error = runStages(*variants.back().module, further))
        return std::move(error);
    }
  }
  if (llvm::Error error = runStages(module, run))
    return std::move(error);
  return variants;
}

// Where the cache of code is by --cache, TALC_CACHE, and the XDG base directory specification; empty: nowhere.
static std::string cacheDirectory(std::string wanted) {
  auto variable = [](const char *name) { return llvm::sys::Process::GetEnv(name).value_or(""); };
  if (wanted.empty())
    wanted = variable("TALC_CACHE");
  if (wanted == "off")
    return "";
  if (!wanted.empty())
    return wanted;
  std::string base = variable("XDG_CACHE_HOME");
  if (!llvm::StringRef(base).starts_with("/"))
    base = variable("HOME").empty() ? "" : variable("HOME") + "/.cache";
  return base.empty() ? "" : base + "/talc";
}

static llvm::Error compile(const CompileOptions &options, Report &report) {
  llvm::Expected<std::vector<targets::Target>> targets = parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  report.begin("import");
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  if (!options.remarks.empty())
    if (std::string problem = printRemarks(context, options.remarks); !problem.empty())
      return makeError(ErrorCode::Usage, "--remarks: '{}' is no regular expression: {}", options.remarks, problem);
  llvm::Expected<ModelInput> input = loadModel(options, context);
  if (!input)
    return input.takeError();

  StageRun run;
  run.first = std::max(Stage::Optimize, parseStage(options.startFrom).value_or(Stage::Import));
  run.last = std::min(Stage::Codegen, parseStage(options.stopAfter).value_or(Stage::Package));
  run.pipeline = {options.weights, targets->front()};
  run.dumpDirectory = options.dump;
  run.listener = {[&](llvm::StringRef stage) { report.begin(stage.str()); },
                  [&](llvm::StringRef part) { report.beginPart(part.str()); }};
  run.configure = configurePasses;
  llvm::Expected<std::vector<Variant>> variants = runTargets(*input->module, run, *targets);
  if (!variants)
    return variants.takeError();
  std::string output = options.output.empty() ? "-" : options.output;
  if (!options.stopAfter.empty() && options.stopAfter != "package")
    return printModule(*input->module, output);
  ProductOptions product{productOf(options.emit),
                         targets->front(),
                         std::move(*variants),
                         output,
                         std::move(input->tokenizer),
                         options.programDirectory,
                         cacheDirectory(options.cache),
                         llvm::join(options.mlirFlags, " "),
                         run.listener};
  return writeProduct(*input->module, product);
}

int compile(const CompileOptions &options) {
  Report report;
  llvm::Error error = compile(options, report);
  report.begin("");
  if (options.time)
    report.printTimes();
  if (!error)
    return success;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return failed;
}

}  // namespace talc::tools
