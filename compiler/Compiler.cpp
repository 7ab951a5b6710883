// SPDX-License-Identifier: Apache-2.0
// Runs the passes of the stages, and stage package.
#include "compiler/Compiler.h"

#include "compiler/DiagnosticLines.h"
#include "compiler/Error.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/Carrier.h"
#include "compiler/artifact/LibraryHeader.h"
#include "compiler/artifact/ModelFacts.h"
#include "compiler/artifact/TextOutput.h"
#include "compiler/targets/cpu/ObjectEmitter.h"
#include "compiler/targets/cpu/SharedObject.h"
#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace talc {

void registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<TalcDialect, kernel::KernelDialect>();
  kernel::registerBufferization(registry);
}

static void tell(const StageListener &listener, llvm::StringRef name) {
  if (listener)
    listener(name);
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream(text) << module << "\n";
  return text;
}

llvm::Error printModule(ModuleOp module, const std::string &path) {
  return writeText(textOf(module), path);
}

llvm::Expected<OwningOpRef<ModuleOp>> parseProgram(const std::string &path, MLIRContext &context) {
  DiagnosticLines lines(context);
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, ParserConfig(&context));
  if (module)
    return module;
  return lines.takeError(path);
}

namespace {

// Stands between the passes of two stages.
class StageBorder : public PassWrapper<StageBorder, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StageBorder)

  explicit StageBorder(std::function<llvm::Error(ModuleOp)> action) : action(std::move(action)) {}

  llvm::StringRef getArgument() const override { return "stage-border"; }
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

}  // namespace

static llvm::Error dump(ModuleOp module, Stage stage, const std::string &directory) {
  if (directory.empty())
    return llvm::Error::success();
  if (std::error_code error = llvm::sys::fs::create_directories(directory, true, llvm::sys::fs::all_all))
    return makeError(ErrorCode::Output, "{}: cannot be made a directory: {}", directory, error.message());
  llvm::SmallString<128> path(directory);
  llvm::sys::path::append(path, fmt::format("{}-{}.mlir", static_cast<int>(stage) + 1, stageName(stage).str()));
  return printModule(module, path.str().str());
}

// The passes of all stages form one pipeline, so that MLIR's timing, numbering and printing see one program.
static void addStages(PassManager &passes, const StageRun &run) {
  for (Stage stage : allStages) {
    if (stage < run.first || stage > run.last)
      continue;
    passes.addPass(std::make_unique<StageBorder>([&run, stage](ModuleOp) {
      tell(run.listener, stageName(stage));
      return llvm::Error::success();
    }));
    addStage(passes, stage, run.pipeline);
    passes.addPass(std::make_unique<StageBorder>(
        [&run, stage](ModuleOp module) { return dump(module, stage, run.dumpDirectory); }));
  }
}

llvm::Error runStages(ModuleOp module, const StageRun &run) {
  if (run.first == Stage::Optimize)
    if (llvm::Error error = dump(module, Stage::Import, run.dumpDirectory))
      return error;
  DiagnosticLines lines(*module.getContext());
  PassManager passes(module.getContext());
  if (run.configure && failed(run.configure(passes)))
    return makeError(ErrorCode::Usage, "talc: MLIR's flags contradict each other");
  addStages(passes, run);
  LogicalResult result = passes.run(module);
  tell(run.listener, "");
  return succeeded(result) ? llvm::Error::success() : lines.takeError(modelName(module));
}

static llvm::Error writeLlvm(ModuleOp module, const ProductOptions &options, cpu::ObjectEmitter &emitter) {
  llvm::LLVMContext context;
  auto code = emitter.translate(module, context);
  if (!code)
    return code.takeError();
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*code)->print(stream, nullptr);
  return writeText(text, options.path);
}

static llvm::Expected<std::vector<uint8_t>> makeObject(ModuleOp module, cpu::ObjectEmitter &emitter) {
  llvm::LLVMContext context;
  auto code = emitter.translate(module, context);
  if (!code)
    return code.takeError();
  return emitter.emit(**code);
}

static llvm::Error writeObject(ModuleOp module, const ProductOptions &options, cpu::ObjectEmitter &emitter) {
  auto object = makeObject(module, emitter);
  if (!object)
    return object.takeError();
  return writeBytes(*object, options.path);
}

static llvm::Error addCode(ModuleOp module, const targets::Target &target, cpu::ObjectEmitter &emitter,
                           std::vector<CodeVariant> &code) {
  auto object = makeObject(module, emitter);
  if (!object)
    return object.takeError();
  auto linked = cpu::linkSharedObject(*object);
  if (!linked)
    return linked.takeError();
  code.push_back({target.level, std::move(*linked)});
  return llvm::Error::success();
}

static llvm::Error addVariants(const ProductOptions &options, std::vector<CodeVariant> &code) {
  for (const Variant &variant : options.variants) {
    auto emitter = cpu::ObjectEmitter::create(variant.target);
    if (!emitter)
      return emitter.takeError();
    if (llvm::Error error = addCode(*variant.module, variant.target, **emitter, code))
      return error;
  }
  return llvm::Error::success();
}

static llvm::Error writeModel(ModuleOp module, const ProductOptions &options, cpu::ObjectEmitter &emitter) {
  bool library = options.product == Product::Library;
  auto carrier = findCarrier(library ? CarrierKind::Library : CarrierKind::Program, options.programDirectory);
  if (!carrier)
    return carrier.takeError();
  std::vector<CodeVariant> code;
  if (llvm::Error error = addCode(module, options.target, emitter, code))
    return error;
  if (llvm::Error error = addVariants(options, code))
    return error;
  tell(options.listener, "weights");
  ArtifactParts parts{module, options.target, std::move(code), options.tokenizer, *carrier, emitter.spills()};
  if (!library)
    return writeArtifact(parts, options.path);
  llvm::Expected<std::string> header = writeLibraryHeader(module, options.path);
  if (!header)
    return header.takeError();
  llvm::Error error = writeArtifact(parts, options.path);
  if (error)
    llvm::sys::fs::remove(*header);
  return error;
}

static llvm::Error write(ModuleOp module, const ProductOptions &options) {
  if (options.product == Product::Ir)
    return printModule(module, options.path);
  tell(options.listener, "code");
  auto emitter = cpu::ObjectEmitter::create(options.target);
  if (!emitter)
    return emitter.takeError();
  if (options.product == Product::Llvm)
    return writeLlvm(module, options, **emitter);
  if (options.product == Product::Object)
    return writeObject(module, options, **emitter);
  return writeModel(module, options, **emitter);
}

llvm::Error writeProduct(ModuleOp module, const ProductOptions &options) {
  DiagnosticLines lines(*module.getContext());
  llvm::Error error = write(module, options);
  tell(options.listener, "");
  return error && !lines.empty() ? llvm::joinErrors(lines.takeError(modelName(module)), std::move(error))
                                 : std::move(error);
}

}  // namespace talc
