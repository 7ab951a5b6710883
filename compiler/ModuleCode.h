// SPDX-License-Identifier: Apache-2.0
// The code of one module for one target: of each function from the cache, or made by the target.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/artifact/ArtifactWriter.h"

#include <optional>

namespace talc {

class ModuleCode {
public:
  // All have to live as long. `namesTarget`: parts are told with the target's name, since there are several.
  ModuleCode(mlir::ModuleOp module, const targets::Target &target, const StageListener &listener, bool namesTarget)
      : program(module), target(target), listener(listener), namesTarget(namesTarget) {}

  mlir::ModuleOp module() const { return program; }

  // Looks in a directory for the code of a program that is ready for the stages `next`, schedule or later ones.
  // Functions whose code is found become declarations; the code of others will be left there. Returns whether all were
  // found: then there is nothing to do for these stages.
  bool find(const StageRun &next, const std::string &directory);

  // The rest is for programs after stage codegen, or with all code found. Optimized LLVM IR as text:
  llvm::Expected<std::string> listing(llvm::StringRef word) const;
  llvm::Expected<std::vector<uint8_t>> linkRelocatable() const;
  llvm::Expected<CodeSection> link() const;

private:
  struct Function {
    std::string key;
    std::optional<targets::ObjectCode> object;
  };

  void begin(llvm::StringRef part) const;
  void dropFound();  // their bodies
  // One object for every function, in the module's order: from the cache, or made by compile().
  llvm::Expected<std::vector<targets::ObjectCode>> objects() const;
  // The functions that still have a body; the cache keeps their code.
  llvm::Expected<std::vector<targets::ObjectCode>> compile() const;

  mlir::ModuleOp program;
  const targets::Target &target;
  const StageListener &listener;
  bool namesTarget;
  std::string directory;            // of the cache; empty: none
  std::vector<Function> functions;  // with a cache all that have a body, in the module's order, which no stage changes
};

// Stage package: writes what the request asks for. `codes`: one for each target of the request, in their order; their
// modules agree on weights and KV caches. On failure nothing is left at the request's output. (Package.cpp)
llvm::Error writeOutput(llvm::ArrayRef<ModuleCode> codes, const CompileRequest &request);

}  // namespace talc
