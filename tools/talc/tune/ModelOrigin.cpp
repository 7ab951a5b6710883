// SPDX-License-Identifier: Apache-2.0
// Reads a program's manifest, finds its model, and asks the runtime which of its code runs here.
#include "tools/talc/tune/Tune.h"

#include "compiler/Compiler.h"
#include "compiler/targets/Target.h"
#include "tools/talc/ModelOptions.h"
#include "tools/talc/OriginRecord.h"
#include "tools/talc/bench/ModelRun.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

namespace talc::tools {

// Puts in the place of a list of --target the word whose code the runtime takes.
static std::string chooseTarget(const std::string &program, const std::string &device, std::string &target) {
  bench::ModelRun run;
  if (Status status = run.open(program, /*hugePages=*/false, device.empty() ? "cpu" : device); status.failed())
    return status.text();
  const std::string words = target;
  for (llvm::StringRef word : llvm::split(words, ',')) {
    auto candidate = targets::parseTarget(word.trim());
    if (!candidate) {
      llvm::consumeError(candidate.takeError());
    } else if ((*candidate)->name() == run.target()) {
      target = word.trim().str();
      return "";
    }
  }
  return fmt::format(
      "error[T0701]: talc tune: {}: has code for {}, which --target={} does not mean here; name its model "
      "and a --target",
      program, run.target(), words);
}

// The model of a product that was compiled here, or one of its name in this folder or beside it.
static ModelOrigin locateOrigin(const std::string &program, const bench::KernelList &list, const std::string &cache) {
  if (auto recorded = findOrigin(defaultCacheDirectory(cache), list.fingerprint))
    return *recorded;
  llvm::SmallString<256> beside = llvm::sys::path::parent_path(program);
  llvm::sys::path::append(beside, list.origin);
  bool isBeside = !llvm::sys::fs::exists(list.origin) && llvm::sys::fs::exists(beside);
  return {isBeside ? beside.str().str() : list.origin, list.originOptions};
}

static std::string takeOrigin(const std::string &command, const std::string &program, const bench::KernelList &list,
                              CompileOptions &model) {
  if (list.origin.empty())
    return "does not say which model it was made of";
  ModelOrigin origin = locateOrigin(program, list, model.cache);
  std::string words = llvm::join(origin.options, " ");
  if (!llvm::sys::fs::exists(origin.model))
    return fmt::format("was made of {}, which is not there; start {} in the folder that has it", origin.model, command);
  model.model = origin.model;
  model.modelOptions = origin.options;
  if (std::string problem = parseModelOptions(origin.options, model); !problem.empty())
    return fmt::format("was made with {}: {}; compile it again", words, problem);
  return "";
}

std::string readModelOrigin(const std::string &command, const std::string &program, CompileOptions &model) {
  bench::KernelList list;
  Status status = bench::readKernels(program, list);
  return status.failed() ? status.text() : takeOrigin(command, program, list, model);
}

std::string resolveModelOrigin(TuneOptions &options) {
  CompileOptions &model = options.compile;
  bench::KernelList list;
  if (!llvm::sys::fs::is_regular_file(model.model) || bench::readKernels(model.model, list).failed())
    return "";
  options.program = model.model;
  auto wrong = [&](const std::string &what) {
    return fmt::format("error[T0701]: talc tune: {}: {}", options.program, what);
  };
  if (!model.modelOptions.empty())
    return wrong("is a compiled program, and says itself what it was made of; leave out " +
                 llvm::join(model.modelOptions, " "));
  if (std::string problem = takeOrigin("talc tune", options.program, list, model); !problem.empty())
    return wrong(problem + "; or name the model, with the same options" +
                 (list.originOptions.empty() ? "" : ": " + llvm::join(list.originOptions, " ")));
  return chooseTarget(options.program, options.device, model.target);
}

bool kernelsDiffer(const std::string &program, const bench::KernelList &now) {
  bench::KernelList then;
  auto equal = [](const bench::KernelEntry &one, const bench::KernelEntry &other) {
    return one.name == other.name && one.phase == other.phase && one.shapes == other.shapes && one.fused == other.fused;
  };
  return bench::readKernels(program, then).failed() ||
         !std::equal(then.kernels.begin(), then.kernels.end(), now.kernels.begin(), now.kernels.end(), equal);
}

}  // namespace talc::tools
