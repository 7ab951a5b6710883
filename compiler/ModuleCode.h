// SPDX-License-Identifier: Apache-2.0
// The code of one module for one processor: of each function from the cache, or made by LLVM.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/targets/cpu/ObjectCode.h"

#include <optional>

namespace talc {

// What the runtime's loader maps.
struct LinkedCode {
  CodeVariant variant;
  llvm::StringMap<int64_t> spills;  // of all functions
};

class ModuleCode {
public:
  // All have to live as long. `processor`: what names of parts end in; empty: there is but one.
  ModuleCode(mlir::ModuleOp module, const targets::Target &target, const StageListener &listener, std::string processor)
      : program(module), target(target), listener(listener), processor(std::move(processor)) {}

  mlir::ModuleOp module() const { return program; }

  // Looks in a directory for the code of a program that is ready for the stages `next`, schedule or later ones.
  // Functions whose code is found become declarations; the code of others will be left there. Returns whether all were
  // found: then there is nothing to do for these stages.
  bool find(const StageRun &next, const std::string &directory);

  // The rest is for programs after stage codegen, or with all code found. Optimized LLVM IR as text:
  llvm::Expected<std::string> llvmIr() const;
  llvm::Expected<std::vector<uint8_t>> linkRelocatable() const;
  llvm::Expected<LinkedCode> link() const;

private:
  struct Function {
    std::string key;
    std::optional<cpu::ObjectCode> object;
  };

  void begin(llvm::StringRef part) const;
  void dropFound();  // their bodies
  // One object for every function, in the module's order: from the cache, or made by compile().
  llvm::Expected<std::vector<cpu::ObjectCode>> objects() const;
  // The functions that still have a body; the cache keeps their code.
  llvm::Expected<std::vector<cpu::ObjectCode>> compile() const;

  mlir::ModuleOp program;
  const targets::Target &target;
  const StageListener &listener;
  std::string processor;
  std::string directory;            // of the cache; empty: none
  std::vector<Function> functions;  // with a cache all that have a body, in the module's order, which no stage changes
};

}  // namespace talc
