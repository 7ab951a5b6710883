// SPDX-License-Identifier: Apache-2.0
// First part of stage package: the code of one module for one processor.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/artifact/ArtifactWriter.h"

namespace talc {

// What the runtime's loader maps.
struct LinkedCode {
  CodeVariant variant;
  llvm::StringMap<int64_t> spills;  // of all functions
};

struct ModuleCode {
  mlir::ModuleOp module;  // after stage codegen, or with all code in the cache
  const targets::Target &target;
  const CachedCode &cached;
  const StageListener &listener;
  std::string processor{};  // that the parts of the stage are for; empty: there is but one

  // Optimized LLVM IR as text.
  llvm::Expected<std::string> llvmIr() const;
  llvm::Expected<std::vector<uint8_t>> linkRelocatable() const;
  llvm::Expected<LinkedCode> link() const;

private:
  void begin(llvm::StringRef part) const;
  // One object for every function, in the module's order: from the cache, or made by compile().
  llvm::Expected<std::vector<cpu::ObjectCode>> objects() const;
  // The functions that still have a body; the cache keeps their code.
  llvm::Expected<std::vector<cpu::ObjectCode>> compile() const;
};

}  // namespace talc
