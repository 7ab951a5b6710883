// SPDX-License-Identifier: Apache-2.0
// Compiles a module for one or several targets.
//
//   import ... bufferize   once           the first target decides how weights are packed
//   schedule, codegen      per target     functions whose code the cache has are left out
//   package                once           weights and the code of all targets go to one file
#include "compiler/Compiler.h"

#include "compiler/Error.h"
#include "compiler/Product.h"

#include "llvm/Support/Process.h"

using namespace mlir;

namespace talc {

std::string usualCacheDirectory(std::string wanted) {
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

static bool isText(Product product) {
  return product == Product::Text || product == Product::Ir;
}

static bool carriesSeveral(Product product) {
  return product == Product::Program || product == Product::Library;
}

// Whoever looks at the stages has all of them run.
static std::string cacheOf(const CompileRequest &request) {
  return isText(request.product) || !request.dumpDirectory.empty() ? "" : request.cacheDirectory;
}

// For a target, by its place.
static std::string plansOf(const CompileRequest &request, size_t target) {
  return request.plans.empty() ? "" : request.plans[std::min(target, request.plans.size() - 1)];
}

// Machines of another kind widen weights, and share the program up to stage bufferize.
static targets::Compute computeOf(const CompileRequest &request) {
  std::string family = request.targets.front()->needs().family;
  bool alike =
      llvm::all_of(request.targets, [&](const targets::TargetPtr &target) { return target->needs().family == family; });
  return alike ? request.compute : targets::Compute::F32;
}

static StageRun stagesOf(const CompileRequest &request) {
  StageRun run;
  run.first = std::max(Stage::Optimize, request.first);
  run.last = std::min(Stage::Codegen, request.last);
  run.pipeline = {request.weights, request.targets.front(), request.generator, computeOf(request), plansOf(request, 0)};
  run.dumpDirectory = request.dumpDirectory;
  run.source = request.source;
  run.listener = request.listener;
  if (request.configure)
    run.configure = [&](PassManager &passes) { return request.configure(passes, false); };
  return run;
}

// The stages that a further target has for itself. They are not dumped: the files are those of the first.
static StageRun furtherStages(const CompileRequest &request, StageRun run, size_t place) {
  const targets::TargetPtr &target = request.targets[place];
  run.pipeline.target = target;
  run.pipeline.plans = plansOf(request, place);
  run.listener.stage = [&](llvm::StringRef name) {
    request.listener.beginStage(name.empty() ? "" : name.str() + " " + target->name());
  };
  run.dumpDirectory.clear();
  if (request.configure)
    run.configure = [&](PassManager &passes) { return request.configure(passes, true); };
  return run;
}

// Runs the stages up to bufferize for all targets at once, if others follow or the cache may have the rest.
static llvm::Error runCommonStages(ModuleOp module, StageRun &run, const CompileRequest &request) {
  if (run.first >= Stage::Schedule || (request.targets.size() == 1 && cacheOf(request).empty()))
    return llvm::Error::success();
  StageRun common = run;
  common.last = Stage::Bufferize;
  run.first = Stage::Schedule;
  return runStages(module, common);
}

// Makes the code of a program that is at the start of stage schedule or later, unless the cache has it.
static llvm::Error makeCode(ModuleCode &code, const StageRun &run, const CompileRequest &request) {
  // The code that the cache has for a function is that of one plan.
  if (run.first == Stage::Schedule && !cacheOf(request).empty())
    if (llvm::Error error = assignPlans(code.module(), run))
      return error;
  return code.find(run, cacheOf(request)) ? llvm::Error::success() : runStages(code.module(), run);
}

static llvm::Error makeProduct(ModuleOp module, const CompileRequest &request) {
  StageRun run = stagesOf(request);
  if (llvm::Error error = runCommonStages(module, run, request))
    return error;
  std::vector<OwningOpRef<ModuleOp>> copies;
  std::vector<ModuleCode> codes;
  llvm::ArrayRef<targets::TargetPtr> targets = request.targets;
  if (!carriesSeveral(request.product))
    targets = targets.take_front();
  for (const targets::TargetPtr &target : targets) {
    bool first = codes.empty();
    if (!first)
      copies.push_back(module.clone());
    codes.emplace_back(first ? module : *copies.back(), *target, request.listener, targets.size() > 1);
  }
  for (size_t place = 1; place < codes.size(); ++place)
    if (llvm::Error error = makeCode(codes[place], furtherStages(request, run, place), request))
      return error;
  if (llvm::Error error = makeCode(codes.front(), run, request))
    return error;
  if (llvm::Error error = request.inspectCode ? request.inspectCode(*targets.front(), module) : llvm::Error::success())
    return error;
  return writeProduct(codes, request);
}

// Weights are packed once for all targets, and a program or library is one ELF file.
static llvm::Error checkTargets(const CompileRequest &request) {
  const targets::Target &first = *request.targets.front();
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
  if (request.last == Stage::Package)
    return makeProduct(module, request);
  llvm::Error error = runStages(module, stagesOf(request));
  return error ? std::move(error) : printModule(module, request.output);
}

}  // namespace talc
