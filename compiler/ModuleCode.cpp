// SPDX-License-Identifier: Apache-2.0
// Functions whose code is in the cache lose their bodies before stage schedule; the target compiles the others.
#include "compiler/ModuleCode.h"

#include "compiler/Error.h"
#include "compiler/passes/PassRemarks.h"
#include "compiler/targets/CodeCache.h"
#include "compiler/targets/CodeKey.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;

namespace talc {

void ModuleCode::eraseCachedBodies() {
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
  targets::CodeKeys keys(program, stageName(next.first), target);
  targets::CodeCache cache(directory);
  for (auto function : program.getOps<FunctionOpInterface>())
    if (!function.isExternal()) {
      std::string key = keys.key(function);
      functions.push_back({key, cache.find(key)});
    }
  size_t cachedCount = llvm::count_if(functions, [](const Function &function) { return function.object.has_value(); });
  next.listener.beginPart(fmt::format("found-{}-of-{}", cachedCount, functions.size()));
  eraseCachedBodies();
  next.listener.beginStage("");
  return cachedCount > 0 && cachedCount == functions.size();
}

void ModuleCode::begin(llvm::StringRef part) const {
  listener.beginPart(namesTarget ? part.str() + " " + target.name() : part.str());
}

llvm::Expected<std::string> ModuleCode::listing(llvm::StringRef kind) const {
  return target.listing(kind, program, [this](llvm::StringRef part) { begin(part); });
}

llvm::Expected<std::vector<targets::ObjectCode>> ModuleCode::compile() const {
  auto compiled = target.compile(program, [this](llvm::StringRef part) { begin(part); });
  if (!compiled || directory.empty())
    return compiled;
  size_t missing = llvm::count_if(functions, [](const Function &function) { return !function.object; });
  if (compiled->size() != missing)
    return internalError("the target {} made {} objects of {} functions", target.name(), compiled->size(), missing);
  begin("keep-in-cache");
  targets::CodeCache cache(directory);
  auto next = compiled->begin();
  for (const Function &function : functions)
    if (!function.object)
      cache.store(function.key, *next++);
  return compiled;
}

llvm::Expected<std::vector<targets::ObjectCode>> ModuleCode::objects() const {
  std::vector<targets::ObjectCode> result;
  bool isAllCached =
      !functions.empty() && llvm::all_of(functions, [](const Function &f) { return f.object.has_value(); });
  if (!isAllCached) {
    auto compiled = compile();
    if (!compiled || functions.empty())
      return compiled;
    result = std::move(*compiled);
  }
  // Inserts the cached objects between the compiled ones, in the module's order.
  for (auto [index, function] : llvm::enumerate(functions))
    if (function.object)
      result.insert(result.begin() + index, *function.object);
  return result;
}

llvm::Expected<std::vector<uint8_t>> ModuleCode::linkRelocatable() const {
  auto code = objects();
  if (!code)
    return code.takeError();
  begin("link");
  return target.linkRelocatable(*code);
}

llvm::Expected<CodeSection> ModuleCode::link() const {
  auto code = objects();
  if (!code)
    return code.takeError();
  begin("link");
  auto linked = target.link(*code);
  if (!linked)
    return linked.takeError();
  for (const targets::LinkedCode::Entry &entry : linked->entries)
    if (!entry.steps.empty())
      PassRemarks("package", "link").did(program, [&] { return entry.name + ": a step is " + entry.steps; });
  auto kernels = program->getAttrOfType<ArrayAttr>(kernelsAttr);
  CodeSection section{target, std::move(*linked), kernels, {}};
  for (const targets::ObjectCode &object : *code)
    for (const auto &entry : object.spills)
      section.spills[entry.first()] = entry.second;
  return section;
}

}  // namespace talc
