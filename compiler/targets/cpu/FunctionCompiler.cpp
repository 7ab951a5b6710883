// SPDX-License-Identifier: Apache-2.0
// Functions go through LLVM apart from one another: none is inlined, so nothing is lost, and processors share the work.
// LLVM's own splitCodeGen shares out only what comes behind the optimization, and keeps no function apart for a cache.
#include "compiler/targets/cpu/CompileAndLink.h"

#include "compiler/Error.h"
#include "compiler/generators/GeneratedCode.h"
#include "compiler/targets/cpu/ObjectEmitter.h"
#include "dialects/talc/ModelName.h"

#include "mlir/IR/Threading.h"
#include "llvm/ADT/StringExtras.h"

#include <mutex>

using namespace mlir;

namespace talc::cpu {

namespace {

// A function on its way.
struct Job {
  OwningOpRef<ModuleOp> code;
  std::unique_ptr<ObjectEmitter> emitter;
  size_t place, size;  // in the module; operations
};

}  // namespace

// The largest functions first, so that none is left when the others are done.
static llvm::Expected<std::vector<Job>> makeJobs(ModuleOp module, const CpuFacts &cpu) {
  SymbolTable symbols(module);
  std::vector<Job> jobs;
  for (auto any : module.getOps<FunctionOpInterface>()) {
    if (any.isExternal())
      continue;
    auto function = dyn_cast<LLVM::LLVMFuncOp>(*any);
    if (!function)
      return makeError(ErrorCode::Program, "function '{}' is not in the llvm dialect; stage codegen converts it",
                       any.getName().str());
    auto code = extractFunction(function, symbols);
    if (!code)
      return code.takeError();
    auto emitter = ObjectEmitter::create(cpu);
    if (!emitter)
      return emitter.takeError();
    size_t size = 0;
    function.walk([&](Operation *) { ++size; });
    jobs.push_back({std::move(*code), std::move(*emitter), jobs.size(), size});
  }
  llvm::sort(jobs, [](const Job &a, const Job &b) { return std::tie(b.size, a.place) < std::tie(a.size, b.place); });
  return jobs;
}

// Processors take one job after another.
static llvm::Error forEach(MutableArrayRef<Job> jobs, llvm::function_ref<llvm::Error(Job &)> action) {
  std::mutex mutex;
  llvm::Error all = llvm::Error::success();
  parallelForEach(jobs.front().code->getContext(), jobs, [&](Job &job) {
    if (llvm::Error error = action(job)) {
      std::lock_guard lock(mutex);
      all = llvm::joinErrors(std::move(all), std::move(error));
    }
  });
  return all;
}

static bool isGenerated(LLVM::LLVMFuncOp function) {
  auto generator = function->getAttrOfType<DictionaryAttr>(generatorAttr);
  return function.isExternal() && generator && generator.contains(specificationKey);
}

// With the code of the functions that it calls and another generator made; their spills count as its own.
static llvm::Expected<targets::ObjectCode> withGenerated(targets::ObjectCode object, ModuleOp code) {
  std::vector<targets::ObjectCode> parts = {std::move(object)};
  StringRef caller;
  int64_t spills = 0;
  for (auto function : code.getOps<LLVM::LLVMFuncOp>()) {
    if (!function.isExternal())
      caller = function.getName();
    if (!isGenerated(function))
      continue;
    auto generated = generatedCode(function);
    if (!generated)
      return makeError(ErrorCode::Program, "function '{}' is declared, but has no code", function.getName().str());
    parts.push_back({std::move(generated->object), {}});
    spills += generated->spills;
  }
  if (spills > 0)
    parts.front().spills[caller] += spills;
  if (parts.size() == 1)
    return std::move(parts.front());
  auto merged = mergeObjects(parts);
  if (!merged)
    return merged.takeError();
  parts.front().bytes = std::move(*merged);
  return std::move(parts.front());
}

// Otherwise the runtime could call nothing.
static llvm::Error checkEntryPoints(ModuleOp module) {
  std::vector<StringRef> symbols;
  for (const artifact::EntryInfo &entry : artifact::entryTable)
    symbols.push_back(entry.symbol);
  if (llvm::any_of(symbols, [&](StringRef symbol) { return SymbolTable::lookupSymbolIn(module, symbol); }))
    return llvm::Error::success();
  return makeError(ErrorCode::Program, "{}: has none of the functions {}", modelName(module),
                   llvm::join(symbols, ", "));
}

// All functions as optimized LLVM IR.
static llvm::Expected<std::vector<Job>> optimizedJobs(ModuleOp module, const CpuFacts &cpu, targets::BeginPart begin) {
  if (llvm::Error error = checkEntryPoints(module))
    return std::move(error);
  auto jobs = makeJobs(module, cpu);
  if (!jobs)
    return jobs.takeError();
  begin("translate-to-llvm-ir");
  if (llvm::Error error = forEach(*jobs, [](Job &job) { return job.emitter->translate(*job.code); }))
    return std::move(error);
  begin("optimize-llvm-ir");
  llvm::Error error = forEach(*jobs, [](Job &job) {
    job.emitter->optimize();
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return jobs;
}

// One result for each function, in the module's order.
template <typename Result>
static llvm::Expected<std::vector<Result>> forAll(MutableArrayRef<Job> jobs,
                                                  llvm::function_ref<llvm::Expected<Result>(Job &)> make) {
  std::vector<Result> results(jobs.size());
  llvm::Error error = forEach(jobs, [&](Job &job) -> llvm::Error {
    auto result = make(job);
    if (!result)
      return result.takeError();
    results[job.place] = std::move(*result);
    return llvm::Error::success();
  });
  if (error)
    return std::move(error);
  return results;
}

llvm::Expected<std::vector<targets::ObjectCode>> compileFunctions(ModuleOp module, const CpuFacts &cpu,
                                                                  targets::BeginPart begin) {
  auto jobs = optimizedJobs(module, cpu, begin);
  if (!jobs)
    return jobs.takeError();
  begin("emit-object-code");
  return forAll<targets::ObjectCode>(*jobs, [&](Job &job) -> llvm::Expected<targets::ObjectCode> {
    auto object = job.emitter->emit();
    return object ? withGenerated(std::move(*object), *job.code) : std::move(object);
  });
}

llvm::Expected<std::vector<targets::CodeListing>> listFunctions(ModuleOp module, const CpuFacts &cpu,
                                                                targets::BeginPart begin) {
  auto jobs = optimizedJobs(module, cpu, begin);
  if (!jobs)
    return jobs.takeError();
  begin("list-code");
  auto all = forAll<targets::CodeListing>(*jobs, [](Job &job) { return job.emitter->list(); });
  if (!all)
    return all;
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto generated = isGenerated(function) ? generatedCode(function) : std::nullopt)
      all->push_back(
          {function.getName().str(), std::move(generated->loops), std::move(generated->assembly), generated->spills});
  return all;
}

}  // namespace talc::cpu
