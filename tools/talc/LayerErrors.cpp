// SPDX-License-Identifier: Apache-2.0
// Compiles both once more, with what their layers yield as a second result, and has them read the same text.
#include "tools/talc/LayerErrors.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "compiler/TemporaryDirectory.h"
#include "tools/talc/Calibrate.h"
#include "tools/talc/ObservedModel.h"
#include "tools/talc/tune/ModelOrigin.h"

#include "mlir/IR/MLIRContext.h"

using namespace mlir;

namespace talc::tools {

bool roundsMore(const CompileOptions &options) {
  bool rounds = options.weights != "checkpoint" && options.weights != "f32";
  for (const std::string &format : {options.state, options.keyFormat, options.valueFormat})
    rounds |= !format.empty() && format != "f32";
  return rounds || options.compute == "bf16";
}

CompileOptions exactly(const CompileOptions &options) {
  CompileOptions exact = options;
  exact.weights = "checkpoint";
  exact.state = "f32";
  exact.keyFormat = exact.valueFormat = exact.calibrate = "";
  exact.compute = "f32";
  return exact;
}

// `widths`: features of each layer.
static llvm::Error compileLayers(const CompileOptions &options, const std::string &path, std::vector<int64_t> &widths) {
  DialectRegistry registry;
  registerDialects(registry);
  MLIRContext context(registry);
  ScopedDiagnosticHandler silent(&context, [](Diagnostic &said) {  // what passes warn of was said of the program itself
    return success(said.getSeverity() != DiagnosticSeverity::Error);
  });
  llvm::Expected<ModelInput> input = loadCalibrated(options, context);
  if (!input)
    return input.takeError();
  widths = observeLayers(*input->module);
  if (widths.empty())
    return makeError(ErrorCode::Usage, "{}: is compared layer by layer only if it continues texts or fills masks",
                     options.model);
  return compileObserved(*input->module, input->tokenizer, options, path);
}

std::string compareLayers(const CompileOptions &options, const CompileOptions &other, perplexity::Options run,
                          perplexity::Results &results) {
  auto directory = TemporaryDirectory::make();
  if (!directory)
    return llvm::toString(directory.takeError());
  std::vector<int64_t> others;
  run.name = options.model;
  run.otherName = other.model;
  run.app = (*directory)->file("observed.so");
  run.against = (*directory)->file("other.so");
  if (llvm::Error error = compileLayers(options, run.app, run.layers))
    return llvm::toString(std::move(error));
  if (llvm::Error error = compileLayers(other, run.against, others))
    return llvm::toString(std::move(error));
  if (run.layers != others)
    return errorText(ErrorCode::Usage, "{} and {}: have different layers, and do not compare", options.model,
                     other.model);
  return perplexity::measure(run, results);
}

std::string compareLayers(const std::string &programDirectory, const perplexity::Options &run,
                          perplexity::Results &results) {
  CompileOptions models[2];
  const std::string *programs[] = {&run.app, &run.against};
  for (int i = 0; i < 2; ++i) {
    models[i].programDirectory = programDirectory;
    if (std::string problem = readModelOrigin("talc perplexity", *programs[i], models[i]); !problem.empty())
      return fmt::format("error[T0701]: talc perplexity: --layers: {}: {}", *programs[i], problem);
  }
  return compareLayers(models[0], models[1], run, results);
}

}  // namespace talc::tools
