// SPDX-License-Identifier: Apache-2.0
// Runs the passes of the stages and reports which one runs.
#include "compiler/Compiler.h"

#include "compiler/DiagnosticCollector.h"
#include "compiler/Error.h"
#include "compiler/artifact/OutputFile.h"
#include "compiler/generators/GeneratedCode.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/ModelName.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace talc {

void registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<TalcDialect, kernel::KernelDialect>();
  kernel::registerInterfaces(registry);
}

static std::string printToString(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

llvm::Error printModule(ModuleOp module, const std::string &path) {
  return writeText(printToString(module), path);
}

llvm::Expected<OwningOpRef<ModuleOp>> parseModule(const std::string &path, MLIRContext &context) {
  DiagnosticCollector lines(context, path);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, ParserConfig(&context));
  if (module)
    return module;
  return lines.takeError(path);
}

namespace {

// Runs an action between the passes of two stages.
class StageBoundary : public PassWrapper<StageBoundary, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageBoundary)

  explicit StageBoundary(std::function<llvm::Error(ModuleOp)> action) : action(std::move(action)) {}

  static constexpr llvm::StringLiteral argument = "stage-boundary";
  llvm::StringRef getArgument() const override { return argument; }
  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (llvm::Error error = action(getOperation())) {
      getOperation().emitError() << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }

private:
  std::function<llvm::Error(ModuleOp)> action;
};

// Reports every pass over the whole module, with the passes nested in it.
class PassReporter : public PassInstrumentation {
public:
  explicit PassReporter(const StageListener &listener) : listener(listener) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    llvm::StringRef name = pass->getArgument().empty() ? pass->getName() : pass->getArgument();
    if (!op->getParentOp() && name != StageBoundary::argument)
      listener.beginPart(name);
  }

private:
  const StageListener &listener;
};

}  // namespace

// Dumps the code that other generators made for kernels in stage schedule.
static llvm::Error dumpGenerated(ModuleOp module, const std::string &directory) {
  for (auto function : module.getOps<func::FuncOp>())
    if (auto code = generatedCode(function)) {
      llvm::SmallString<128> path(directory);
      llvm::sys::path::append(path, function.getName());
      if (llvm::Error error = writeText(code->loops, (path + ".loops").str()))
        return error;
      if (llvm::Error error = writeText(code->assembly, (path + ".s").str()))
        return error;
    }
  return llvm::Error::success();
}

static llvm::Error dump(ModuleOp module, Stage stage, const StageRun &run) {
  const std::string &directory = run.dumpDirectory;
  if (directory.empty())
    return llvm::Error::success();
  run.listener.beginPart("dump");
  if (std::error_code error = llvm::sys::fs::create_directories(directory, true, llvm::sys::fs::all_all))
    return makeError(ErrorCode::Output, "{}: cannot be made a directory: {}", directory, error.message());
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, fmt::format("{}-{}.mlir", static_cast<int>(stage) + 1, stageName(stage).str()));
  if (stage == Stage::Schedule)
    if (llvm::Error error = dumpGenerated(module, directory))
      return error;
  return printModule(module, path.str().str());
}

// The passes of all stages form one pipeline, so that MLIR's timing, numbering and printing see one program.
static void addStages(PassManager &passes, const StageRun &run) {
  for (Stage stage : allStages) {
    if (stage < run.first || stage > run.last)
      continue;
    passes.addPass(std::make_unique<StageBoundary>([&run, stage](ModuleOp) {
      run.listener.beginStage(stageName(stage));
      return llvm::Error::success();
    }));
    addStage(passes, stage, run.pipeline);
    passes.addPass(
        std::make_unique<StageBoundary>([&run, stage](ModuleOp module) { return dump(module, stage, run); }));
  }
}

// Runs the pipeline that `add` builds.
static llvm::Error runPasses(ModuleOp module, const StageRun &run, llvm::function_ref<void(PassManager &)> add) {
  DiagnosticCollector lines(*module.getContext(), run.source);
  PassManager passes(module.getContext());
#ifdef NDEBUG
  passes.enableVerifier(false);  // the end of each stage verifies
#endif
  if (run.configure && failed(run.configure(passes)))
    return makeError(ErrorCode::Usage, "talc: MLIR's flags contradict each other");
  if (run.listener.part)
    passes.addInstrumentation(std::make_unique<PassReporter>(run.listener));
  add(passes);
  LogicalResult result = passes.run(module);
  return succeeded(result) ? llvm::Error::success() : lines.takeError(modelName(module));
}

llvm::Error runStages(ModuleOp module, const StageRun &run) {
  if (run.first == Stage::Optimize)
    if (llvm::Error error = dump(module, Stage::Import, run))
      return error;
  llvm::Error error = runPasses(module, run, [&](PassManager &passes) { addStages(passes, run); });
  run.listener.beginStage("");
  return error;
}

llvm::Error assignPlans(ModuleOp module, const StageRun &run) {
  return runPasses(module, run, [&](PassManager &passes) {
    run.pipeline.target->addPlans(passes, run.pipeline.plans, run.pipeline.generator);
  });
}

}  // namespace talc
