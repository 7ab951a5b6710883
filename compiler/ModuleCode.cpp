// SPDX-License-Identifier: Apache-2.0
// Finds object code in the cache, or has LLVM make it.
#include "compiler/ModuleCode.h"

#include "compiler/targets/cpu/CodeCache.h"
#include "compiler/targets/cpu/CodeKey.h"
#include "compiler/targets/cpu/SharedObject.h"

using namespace mlir;

namespace talc {

CachedCode findCode(ModuleOp module, Stage next, const targets::Target &target, const std::string &directory,
                    const StageListener &listener) {
  if (directory.empty())
    return {};
  listener.beginStage("cache");
  listener.beginPart("hash-code");
  CachedCode result{directory, cpu::codeKey(module, stageName(next), target)};
  result.object = cpu::CodeCache(directory).find(result.key);
  listener.beginPart(result.object ? "cache-hit" : "cache-miss");
  listener.beginStage("");
  return result;
}

void ModuleCode::begin(llvm::StringRef part) const {
  listener.beginPart(processor.empty() ? part.str() : part.str() + " " + processor);
}

template <typename Result>
llvm::Expected<Result>
ModuleCode::fromLlvm(llvm::function_ref<llvm::Expected<Result>(cpu::ObjectEmitter &, llvm::Module &)> use) const {
  auto emitter = cpu::ObjectEmitter::create(target);
  if (!emitter)
    return emitter.takeError();
  llvm::LLVMContext context;
  begin("translate-to-llvm-ir");
  auto code = (*emitter)->translate(module, context);
  if (!code)
    return code.takeError();
  begin("optimize-llvm-ir");
  (*emitter)->optimize(**code);
  return use(**emitter, **code);
}

llvm::Expected<std::string> ModuleCode::llvmIr() const {
  return fromLlvm<std::string>([](cpu::ObjectEmitter &, llvm::Module &code) {
    std::string text;
    llvm::raw_string_ostream(text) << code;
    return text;
  });
}

llvm::Expected<cpu::ObjectCode> ModuleCode::compile() const {
  return fromLlvm<cpu::ObjectCode>([&](cpu::ObjectEmitter &emitter, llvm::Module &code) {
    begin("emit-object-code");
    return emitter.emit(code);
  });
}

llvm::Expected<cpu::ObjectCode> ModuleCode::object() const {
  if (cached.object)
    return *cached.object;
  llvm::Expected<cpu::ObjectCode> code = compile();
  if (code && !cached.directory.empty()) {
    begin("keep-in-cache");
    cpu::CodeCache(cached.directory).keep(cached.key, *code);
  }
  return code;
}

llvm::Expected<CodeVariant> ModuleCode::link(const cpu::ObjectCode &object) const {
  begin("link");
  auto linked = cpu::linkSharedObject(object.bytes);
  if (!linked)
    return linked.takeError();
  return CodeVariant{target.level, std::move(*linked)};
}

}  // namespace talc
