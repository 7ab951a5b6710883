// SPDX-License-Identifier: Apache-2.0
// The code of one module for one target. The code of a function comes from the cache, or from the target.
#pragma once

#include "compiler/Compiler.h"
#include "compiler/artifact/ArtifactWriter.h"

#include <optional>

namespace talc {

class ModuleCode {
public:
  // All references have to outlive the object. `namesTarget`: the listener gets parts with the target's name, because
  // there are several targets.
  ModuleCode(mlir::ModuleOp module, const targets::Target &target, const StageListener &listener, bool namesTarget)
      : program(module), target(target), listener(listener), namesTarget(namesTarget) {}

  mlir::ModuleOp module() const { return program; }

  // Looks in a cache directory for the code of a module that is ready for the stages `next`, schedule or later ones.
  // Functions whose code is found become declarations; the code of the others will be stored in the cache. Returns
  // whether all were found: then these stages need not run.
  bool find(const StageRun &next, const std::string &directory);

  // The following are for modules after stage codegen, or with all code found. A listing of this kind:
  llvm::Expected<std::string> listing(llvm::StringRef kind) const;
  llvm::Expected<std::vector<uint8_t>> linkRelocatable() const;
  llvm::Expected<CodeSection> link() const;

private:
  struct Function {
    std::string key;
    std::optional<targets::ObjectCode> object;
  };

  void begin(llvm::StringRef part) const;
  void eraseCachedBodies();
  // One object for every function, in the module's order, from the cache or from compile().
  llvm::Expected<std::vector<targets::ObjectCode>> objects() const;
  // Compiles the functions that still have a body, and stores their code in the cache.
  llvm::Expected<std::vector<targets::ObjectCode>> compile() const;

  mlir::ModuleOp program;
  const targets::Target &target;
  const StageListener &listener;
  bool namesTarget;
  std::string directory;  // of the cache; empty: none
  // With a cache: all functions that have a body, in the module's order, which no stage changes.
  std::vector<Function> functions;
};

// Stage package: writes what the request asks for. `codes`: one for each target of the request, in their order; their
// modules agree on weights and KV caches. On failure nothing is left at the request's output. (Package.cpp)
llvm::Error writeOutput(llvm::ArrayRef<ModuleCode> codes, const CompileRequest &request);

}  // namespace talc
