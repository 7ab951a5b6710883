// SPDX-License-Identifier: Apache-2.0
// First part of stage package: the code of one module for one processor.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/targets/cpu/ObjectEmitter.h"

namespace talc {

struct ModuleCode {
  mlir::ModuleOp module;  // after stage codegen, or with cached object code
  const targets::Target &target;
  const CachedCode &cached;
  const StageListener &listener;
  std::string processor{};  // that the parts of the stage are for; empty: there is but one

  // Optimized LLVM IR as text.
  llvm::Expected<std::string> llvmIr() const;
  // From the cache, or from LLVM, and then it is kept in the cache.
  llvm::Expected<cpu::ObjectCode> object() const;
  llvm::Expected<CodeVariant> link(const cpu::ObjectCode &object) const;

private:
  void begin(llvm::StringRef part) const;
  // What `use` makes of optimized LLVM IR.
  template <typename Result>
  llvm::Expected<Result>
  fromLlvm(llvm::function_ref<llvm::Expected<Result>(cpu::ObjectEmitter &, llvm::Module &)> use) const;
  llvm::Expected<cpu::ObjectCode> compile() const;
};

}  // namespace talc
