// SPDX-License-Identifier: Apache-2.0
// Compiles a module for one or several targets.
//
//   import ... lower     once         the first target decides the layout of weights and KV caches
//   bufferize            per family   of machines, each of which divides the work of a step in its own way
//   schedule, codegen    per target   functions whose code is in the cache are left out
//   package              once         weights and the code of all targets go to one file
#include "compiler/Compiler.h"

#include "compiler/Error.h"
#include "compiler/ModuleCode.h"
#include "compiler/quantize/Calibration.h"

#include "llvm/Support/Process.h"

using namespace mlir;

namespace talc {

std::string defaultCacheDirectory(std::string choice) {
  auto variable = [](const char *name) { return llvm::sys::Process::GetEnv(name).value_or(""); };
  if (choice.empty())
    choice = variable("TALC_CACHE");
  if (choice == "off")
    return "";
  if (!choice.empty())
    return choice;
  std::string base = variable("XDG_CACHE_HOME");
  if (!llvm::StringRef(base).starts_with("/"))
    base = variable("HOME").empty() ? "" : variable("HOME") + "/.cache";
  return base.empty() ? "" : base + "/talc";
}

static bool isText(EmitKind emit) {
  return emit == EmitKind::Listing || emit == EmitKind::Ir;
}

static bool canHaveSeveralTargets(EmitKind emit) {
  return emit == EmitKind::Program || emit == EmitKind::Library;
}

// A user who looks at the stages wants all of them to run.
static std::string usedCacheDirectory(const CompileRequest &request) {
  return isText(request.emit) || !request.dumpDirectory.empty() ? "" : request.cacheDirectory;
}

// The plan overrides of a target, by its index.
static std::string targetPlans(const CompileRequest &request, size_t target) {
  return request.plans.empty() ? "" : request.plans[std::min(target, request.plans.size() - 1)];
}

static bool areOfOneFamily(const targets::TargetPtr &a, const targets::TargetPtr &b) {
  return a->requirements().family == b->requirements().family;
}

static bool allOfOneFamily(llvm::ArrayRef<targets::TargetPtr> targets) {
  return llvm::all_of(targets,
                      [&](const targets::TargetPtr &target) { return areOfOneFamily(target, targets.front()); });
}

// Different families share the program up to stage lower, and have only f32 arithmetic in common.
static targets::Compute commonCompute(const CompileRequest &request) {
  return allOfOneFamily(request.targets) && !request.trains ? request.compute : targets::Compute::F32;
}

static StageRun makeStageRun(const CompileRequest &request) {
  StageRun run;
  run.first = std::max(Stage::Optimize, request.first);
  run.last = std::min(Stage::Codegen, request.last);
  run.pipeline = {request.trains ? "f32" : request.weights.text,
                  request.targets.front(),
                  request.generator,
                  commonCompute(request),
                  targetPlans(request, 0),
                  request.targets.front(),
                  request.trains};
  run.dumpDirectory = request.dumpDirectory;
  run.source = request.source;
  run.listener = request.listener;
  if (request.configure)
    run.configure = [&](PassManager &passes) { return request.configure(passes, false); };
  return run;
}

// The stages that a further target has for itself. They are not dumped: the files are those of the first target.
static StageRun furtherStages(const CompileRequest &request, StageRun run, size_t index) {
  const targets::TargetPtr &target = request.targets[index];
  run.pipeline.target = target;
  run.pipeline.plans = targetPlans(request, index);
  run.listener.stage = [&](llvm::StringRef name) {
    request.listener.beginStage(name.empty() ? "" : name.str() + " " + target->name());
  };
  run.dumpDirectory.clear();
  if (request.configure)
    run.configure = [&](PassManager &passes) { return request.configure(passes, true); };
  return run;
}

// Runs the stages up to `last`; `run` then begins with the next one.
static llvm::Error runUpTo(Stage last, ModuleOp module, StageRun &run) {
  if (run.first > last)
    return llvm::Error::success();
  StageRun part = run;
  part.last = last;
  run.first = static_cast<Stage>(static_cast<int>(last) + 1);
  return runStages(module, part);
}

// Makes a program for every target at the start of stage schedule; targets of one family have equal programs. The first
// is `module`, the others are added to `copies`.
static llvm::Error divideWork(ModuleOp module, llvm::ArrayRef<targets::TargetPtr> targets, StageRun &run,
                              const CompileRequest &request, std::vector<OwningOpRef<ModuleOp>> &copies) {
  if (!allOfOneFamily(targets))
    if (llvm::Error error = runUpTo(Stage::Lower, module, run))
      return error;
  const StageRun common = run;
  auto program = [&](size_t index) { return index == 0 ? module : *copies[index - 1]; };
  auto firstOfFamily = [&](size_t index) {
    return llvm::find_if(targets, [&](const auto &target) { return areOfOneFamily(target, targets[index]); }) -
           targets.begin();
  };
  // The first program of each family is cloned before the work is divided.
  copies.resize(targets.size() - 1);
  for (size_t index = 1; index < targets.size(); ++index)
    if (firstOfFamily(index) == static_cast<ptrdiff_t>(index))
      copies[index - 1] = module.clone();
  if (targets.size() > 1 || !usedCacheDirectory(request).empty())
    if (llvm::Error error = runUpTo(Stage::Bufferize, module, run))
      return error;
  for (size_t index = 1; index < targets.size(); ++index) {
    StageRun further = furtherStages(request, common, index);
    if (firstOfFamily(index) != static_cast<ptrdiff_t>(index))
      copies[index - 1] = program(firstOfFamily(index)).clone();
    else if (llvm::Error error = runUpTo(Stage::Bufferize, *copies[index - 1], further))
      return error;
  }
  return llvm::Error::success();
}

// Generates the code of a program that is at the start of stage schedule or later, unless it is in the cache.
static llvm::Error makeCode(ModuleCode &code, const StageRun &run, const CompileRequest &request) {
  // The cache key of a function includes its plan.
  if (run.first == Stage::Schedule && !usedCacheDirectory(request).empty())
    if (llvm::Error error = assignPlans(code.module(), run))
      return error;
  return code.find(run, usedCacheDirectory(request)) ? llvm::Error::success() : runStages(code.module(), run);
}

static llvm::Error compileAndWrite(ModuleOp module, const CompileRequest &request) {
  StageRun run = makeStageRun(request);
  std::vector<OwningOpRef<ModuleOp>> copies;
  std::vector<ModuleCode> codes;
  llvm::ArrayRef<targets::TargetPtr> targets = request.targets;
  if (!canHaveSeveralTargets(request.emit))
    targets = targets.take_front();
  if (llvm::Error error = divideWork(module, targets, run, request, copies))
    return error;
  for (const targets::TargetPtr &target : targets)
    codes.emplace_back(codes.empty() ? module : *copies[codes.size() - 1], *target, request.listener,
                       targets.size() > 1);
  for (size_t index = 1; index < codes.size(); ++index)
    if (llvm::Error error = makeCode(codes[index], furtherStages(request, run, index), request))
      return error;
  if (llvm::Error error = makeCode(codes.front(), run, request))
    return error;
  if (llvm::Error error = request.inspectCode ? request.inspectCode(*targets.front(), module) : llvm::Error::success())
    return error;
  return writeOutput(codes, request);
}

// Weights are packed once for all targets, and a program or library is one ELF file.
static llvm::Error checkTargets(const CompileRequest &request) {
  const targets::Target &first = *request.targets.front();
  if (request.trains)
    for (const targets::TargetPtr &target : request.targets)
      if (target->hostFamily().empty())
        return makeError(ErrorCode::BadTarget, "--train: {} is a target for GPUs; models are trained on CPUs only",
                         target->name());
  for (const targets::TargetPtr &target : request.targets)
    if (target->weightLayout() != first.weightLayout())
      return makeError(ErrorCode::BadTarget,
                       "--target: {} reads weights in the layout '{}', but {} in the layout '{}'; compile two products",
                       first.name(), first.weightLayout(), target->name(), target->weightLayout());
    else if (!target->hostFamily().empty() && target->hostFamily() != first.hostFamily())
      return makeError(ErrorCode::BadTarget,
                       "--target: {} and {} are different architectures, and a program or library is an ELF file of "
                       "one; compile once for each",
                       first.name(), target->name());
  return llvm::Error::success();
}

llvm::Error compile(ModuleOp module, const CompileRequest &request) {
  if (llvm::Error error = checkTargets(request))
    return error;
  if (!request.calibration.file.empty()) {
    request.listener.beginStage("calibrate");
    if (llvm::Error error = calibrate(module, request))
      return error;
  }
  if (llvm::Error error = request.inspectModel ? request.inspectModel(module) : llvm::Error::success())
    return error;
  if (request.last == Stage::Package)
    return compileAndWrite(module, request);
  llvm::Error error = runStages(module, makeStageRun(request));
  return error ? std::move(error) : printModule(module, request.output);
}

}  // namespace talc
