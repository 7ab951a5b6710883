// SPDX-License-Identifier: Apache-2.0
// Functions that the cache has code for lose their bodies before stage schedule; LLVM gets the others.
#include "compiler/ModuleCode.h"

#include "compiler/Error.h"
#include "compiler/artifact/ModelFacts.h"
#include "compiler/targets/cpu/CodeCache.h"
#include "compiler/targets/cpu/CodeKey.h"
#include "compiler/targets/cpu/FunctionCompiler.h"
#include "compiler/targets/cpu/Linker.h"
#include "compiler/targets/cpu/LlvmCode.h"
#include "compiler/targets/cpu/ObjectEmitter.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace talc {

void ModuleCode::dropFound() {
  auto at = functions.begin();
  for (auto function : program.getOps<FunctionOpInterface>())
    if (!function.isExternal() && at++->object) {
      function.eraseBody();
      cast<SymbolOpInterface>(*function).setPrivate();
    }
}

bool ModuleCode::find(const StageRun &next, const std::string &cacheDirectory) {
  directory = cacheDirectory;
  if (directory.empty())
    return false;
  next.listener.beginStage("cache");
  next.listener.beginPart("find-code");
  cpu::CodeKeys keys(program, stageName(next.first), target);
  cpu::CodeCache cache(directory);
  for (auto function : program.getOps<FunctionOpInterface>())
    if (!function.isExternal()) {
      std::string key = keys.of(function);
      functions.push_back({key, cache.find(key)});
    }
  size_t found = llvm::count_if(functions, [](const Function &function) { return function.object.has_value(); });
  next.listener.beginPart(fmt::format("found-{}-of-{}", found, functions.size()));
  dropFound();
  next.listener.beginStage("");
  return found > 0 && found == functions.size();
}

void ModuleCode::begin(llvm::StringRef part) const {
  listener.beginPart(processor.empty() ? part.str() : part.str() + " " + processor);
}

llvm::Expected<std::string> ModuleCode::llvmIr() const {
  auto emitter = cpu::ObjectEmitter::create(target);
  if (!emitter)
    return emitter.takeError();
  begin("translate-to-llvm-ir");
  if (llvm::Error error = (*emitter)->translate(*cpu::allCode(program)))
    return std::move(error);
  begin("optimize-llvm-ir");
  (*emitter)->optimize();
  std::string text;
  llvm::raw_string_ostream(text) << (*emitter)->llvmIr();
  return text;
}

llvm::Expected<std::vector<cpu::ObjectCode>> ModuleCode::compile() const {
  if (llvm::none_of(cpu::entryPoints, [&](StringRef name) { return SymbolTable::lookupSymbolIn(program, name); }))
    return makeError(ErrorCode::Program, "{}: has none of the functions {}", modelName(program),
                     llvm::join(ArrayRef<StringRef>(cpu::entryPoints), ", "));
  auto beginPart = [this](llvm::StringRef part) { begin(part); };
  auto made = cpu::compileFunctions(program, target, beginPart);
  if (!made || directory.empty())
    return made;
  begin("keep-in-cache");
  cpu::CodeCache cache(directory);
  auto next = made->begin();
  for (const Function &function : functions)
    if (!function.object)
      cache.keep(function.key, *next++);
  return made;
}

llvm::Expected<std::vector<cpu::ObjectCode>> ModuleCode::objects() const {
  std::vector<cpu::ObjectCode> result;
  bool whole = !functions.empty() && llvm::all_of(functions, [](const Function &f) { return f.object.has_value(); });
  if (!whole) {
    auto made = compile();
    if (!made || functions.empty())
      return made;
    result = std::move(*made);
  }
  // Those that were found go to their places between those that were made.
  for (auto [place, function] : llvm::enumerate(functions))
    if (function.object)
      result.insert(result.begin() + place, *function.object);
  return result;
}

llvm::Expected<std::vector<uint8_t>> ModuleCode::linkRelocatable() const {
  auto code = objects();
  if (!code)
    return code.takeError();
  begin("link");
  return cpu::linkRelocatable(*code);
}

llvm::Expected<LinkedCode> ModuleCode::link() const {
  auto code = objects();
  if (!code)
    return code.takeError();
  begin("link");
  auto linked = cpu::linkSharedObject(*code);
  if (!linked)
    return linked.takeError();
  LinkedCode result{{target.level, std::move(*linked)}, {}};
  for (const cpu::ObjectCode &object : *code)
    for (const auto &entry : object.spills)
      result.spills[entry.first()] = entry.second;
  return result;
}

}  // namespace talc
