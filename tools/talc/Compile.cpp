// SPDX-License-Identifier: Apache-2.0
// talc compile: loads a model, runs the stages, writes the product.
#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "tools/talc/CompileOptions.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/MlirFlags.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/Report.h"

#include "mlir/IR/MLIRContext.h"

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

static llvm::Error compile(const CompileOptions &options, Report &report) {
  llvm::Expected<targets::Target> target = targets::parseTarget(options.target);
  if (!target)
    return target.takeError();
  report.begin("import");
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::Expected<ModelInput> input = loadModel(options, context);
  if (!input)
    return input.takeError();

  StageRun run;
  run.first = std::max(Stage::Optimize, parseStage(options.startFrom).value_or(Stage::Import));
  run.last = std::min(Stage::Codegen, parseStage(options.stopAfter).value_or(Stage::Package));
  run.pipeline = {options.weights, *target};
  run.dumpDirectory = options.dump;
  run.listener = [&](llvm::StringRef stage) { report.begin(stage.str()); };
  run.configure = configurePasses;
  if (llvm::Error error = runStages(*input->module, run))
    return error;
  std::string output = options.output.empty() ? "-" : options.output;
  if (!options.stopAfter.empty() && options.stopAfter != "package")
    return printModule(*input->module, output);
  ProductOptions product{productOf(options.emit),  *target,     output, std::move(input->tokenizer),
                         options.programDirectory, run.listener};
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
