// SPDX-License-Identifier: Apache-2.0
// talc compile: loads a model, runs the stages, writes the product.
#include "compiler/Compiler.h"
#include "compiler/Error.h"
#include "compiler/artifact/TextOutput.h"
#include "tools/talc/CompileOptions.h"
#include "tools/talc/ExitStatus.h"
#include "tools/talc/MlirFlags.h"
#include "tools/talc/ModelInput.h"
#include "tools/talc/Remarks.h"
#include "tools/talc/Report.h"
#include "tools/talc/inspect/InspectPage.h"

#include "mlir/IR/MLIRContext.h"
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

// The targets of --target=A,B, no two of one CPU level, the highest first.
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
  llvm::sort(result, [](const targets::Target &a, const targets::Target &b) { return a.level > b.level; });
  return result;
}

namespace {

// What the stages make of a program, and for which processors.
struct Codes {
  CachedCode main;
  std::vector<Variant> variants;
};

}  // namespace

// Makes the code of a program that is at the start of stage schedule or later, unless the cache has it.
static llvm::Error makeCode(mlir::ModuleOp module, const StageRun &run, const std::string &cache, CachedCode &cached) {
  cached = takeCode(module, run.first, run.pipeline.target, cache, run.listener);
  return cached.isWhole() ? llvm::Error::success() : runStages(module, run);
}

// Runs the stages up to codegen for every target. What comes before stage schedule runs once, for the first target,
// whose vectors are the widest; by itself if other targets follow or the cache may have the rest. `module` becomes the
// program of the first target.
static llvm::Expected<Codes> makeCodes(mlir::ModuleOp module, StageRun run, const std::vector<targets::Target> &targets,
                                       const std::string &cache) {
  Codes codes;
  if (run.first < Stage::Schedule && (targets.size() > 1 || !cache.empty())) {
    StageRun common = run;
    common.last = Stage::Bufferize;
    if (llvm::Error error = runStages(module, common))
      return std::move(error);
    run.first = Stage::Schedule;
  }
  for (const targets::Target &target : llvm::drop_begin(targets)) {
    Variant &variant = codes.variants.emplace_back(Variant{module.clone(), target, {}});
    StageRun further = run;
    further.pipeline.target = target;
    further.listener.stage = [&](llvm::StringRef name) {
      run.listener.beginStage(name.empty() ? "" : name.str() + " " + target.cpu);
    };
    further.dumpDirectory.clear();
    further.configure = configurePasses;  // the page shows the first target's passes
    if (llvm::Error error = makeCode(*variant.module, further, cache, variant.cached))
      return std::move(error);
  }
  if (llvm::Error error = makeCode(module, run, cache, codes.main))
    return std::move(error);
  return codes;
}

// Where the user wants the cache of code by --cache, TALC_CACHE, and the XDG base directory specification; empty:
// nowhere.
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

// Whether the user wants to see what the stages make, or changes it by flags: then all of them have to run.
static bool watchesStages(const CompileOptions &options) {
  bool text = options.emit == "llvm" || options.emit == "ir";
  return text || !options.dump.empty() || !options.remarks.empty() || !options.inspect.empty() ||
         !options.mlirFlags.empty();
}

// Remarks go where the options want them.
static llvm::Error listen(mlir::MLIRContext &context, const CompileOptions &options, PassRecorder &recorder) {
  std::function<void(std::string)> listener;
  if (!options.inspect.empty())
    listener = [&recorder](std::string line) { recorder.addRemark(std::move(line)); };
  if (options.remarks.empty() && !listener)
    return llvm::Error::success();
  std::string problem = hearRemarks(context, options.remarks, listener);
  return problem.empty()
             ? llvm::Error::success()
             : makeError(ErrorCode::Usage, "--remarks: '{}' is no regular expression: {}", options.remarks, problem);
}

static llvm::Error compile(const CompileOptions &options, Report &report, PassRecorder &recorder) {
  llvm::Expected<std::vector<targets::Target>> targets = parseTargets(options.target);
  if (!targets)
    return targets.takeError();
  report.begin("import");
  mlir::DialectRegistry registry;
  registerDialects(registry);
  mlir::MLIRContext context(registry);
  if (llvm::Error error = listen(context, options, recorder))
    return error;
  llvm::Expected<ModelInput> input = loadModel(options, context);
  if (!input)
    return input.takeError();
  bool inspects = !options.inspect.empty();
  if (inspects)
    recorder.addImport(*input->module);

  StageRun run;
  run.first = std::max(Stage::Optimize, parseStage(options.startFrom).value_or(Stage::Import));
  run.last = std::min(Stage::Codegen, parseStage(options.stopAfter).value_or(Stage::Package));
  run.pipeline = {options.weights, targets->front()};
  run.dumpDirectory = options.dump;
  run.listener = {[&](llvm::StringRef stage) {
                    recorder.beginStage(stage);
                    report.begin(stage.str());
                  },
                  [&](llvm::StringRef part) { report.beginPart(part.str()); }};
  run.configure = [&](mlir::PassManager &passes) {
    if (inspects)
      recorder.watch(passes);
    return configurePasses(passes);
  };
  std::string output = options.output.empty() ? "-" : options.output;
  if (!options.stopAfter.empty() && options.stopAfter != "package") {
    llvm::Error error = runStages(*input->module, run);
    return error ? std::move(error) : printModule(*input->module, output);
  }
  std::string cache = watchesStages(options) ? "" : cacheDirectory(options.cache);
  llvm::Expected<Codes> codes = makeCodes(*input->module, run, *targets, cache);
  if (!codes)
    return codes.takeError();
  ProductOptions product{
      productOf(options.emit),     targets->front(),         std::move(codes->variants), output,
      std::move(input->tokenizer), options.programDirectory, std::move(codes->main),     run.listener};
  return writeProduct(*input->module, product);
}

int compile(const CompileOptions &options) {
  Report report;
  PassRecorder recorder;
  llvm::Error error = compile(options, report, recorder);
  report.begin("");
  if (!recorder.passes().empty())  // after a failure, too: it shows how far the program came
    error = llvm::joinErrors(std::move(error), writeText(renderPage(recorder, options.model), options.inspect));
  if (options.time)
    report.printTimes();
  if (!error)
    return success;
  llvm::errs() << llvm::toString(std::move(error)) << "\n";
  return failed;
}

}  // namespace talc::tools
