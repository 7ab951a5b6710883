// SPDX-License-Identifier: Apache-2.0
// Runs the whole compiler on a program in memory.
#include "tools/talc/bench/OpCompiler.h"

#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "tools/talc/ModelOptions.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace talc::bench {

static llvm::Error compileProgram(const OpSpec &spec, const BenchOptions &options, const std::string &generator,
                                  const std::string &path) {
  auto targets = targets::parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(spec.program, mlir::ParserConfig(&context));
  if (!module)
    return internalError("the program for '{}' is not valid", spec.text);
  CompileRequest request;
  request.targets = std::move(*targets);
  const std::string &weights = spec.weights.empty() ? options.weights : spec.weights;
  request.weights = FormatChoice::uniform(*findStorageFormat(weights.empty() ? "f32" : weights));
  request.compute = tools::parseCompute(options.compute);
  request.generator = generator;
  request.plans = {options.plans};
  request.output = path;
  request.programDirectory = options.programDirectory;
  request.cacheDirectory = defaultCacheDirectory();
  return talc::compile(*module, request);
}

std::string CompiledOp::compile(const OpSpec &spec, const BenchOptions &options, const std::string &generator) {
  auto made = TemporaryDirectory::make();
  if (!made)
    return llvm::toString(made.takeError());
  directory = std::move(*made);
  file = directory->file("op");
  llvm::Error error = compileProgram(spec, options, generator, file);
  return error ? llvm::toString(std::move(error)) : "";
}

}  // namespace talc::bench
