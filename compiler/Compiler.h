// SPDX-License-Identifier: Apache-2.0
// The compiler as a library: runs stages on a module and writes what they made.
//
//   talc::runStages(module, {Stage::Optimize, Stage::Codegen, pipeline});
//   talc::writeProduct(module, {Product::Program, target, "app", tokenizer, carriers});
//
// Every function fails with finished lines of text, "error[TNNNN]: ...".
#pragma once

#include "compiler/Pipeline.h"
#include "compiler/targets/cpu/ObjectCode.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace talc {

// All dialects of all stages.
void registerDialects(mlir::DialectRegistry &registry);

// Hears what the compiler does; each function may be empty.
struct StageListener {
  std::function<void(llvm::StringRef name)> stage;  // a stage begins; an empty name: all is done
  std::function<void(llvm::StringRef name)> part;   // of that stage a pass begins, or a step of stage package

  void beginStage(llvm::StringRef name) const {
    if (stage)
      stage(name);
  }
  void beginPart(llvm::StringRef name) const {
    if (part)
      part(name);
  }
};

struct StageRun {
  Stage first = Stage::Optimize, last = Stage::Codegen;  // both included
  PipelineOptions pipeline;
  std::string dumpDirectory;  // where every stage's result goes as NUMBER-STAGE.mlir; empty: nowhere
  StageListener listener;
  // Sets up instrumentation, such as MLIR's own flags ask for (--mlir-print-ir-after-all, ...); may be empty.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

llvm::Error runStages(mlir::ModuleOp module, const StageRun &run);

// Parses an .mlir file and verifies it.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> parseProgram(const std::string &path, mlir::MLIRContext &context);

enum class Product {
  Program,  // an executable that needs nothing else
  Library,  // a shared library, and beside it a C header
  Object,   // the generated code as a relocatable object, without weights
  Llvm,     // the generated code as LLVM IR
  Ir,       // the module as it is
};

// Object code that earlier compilations left in the cache, and where to leave more for the next.
struct CachedCode {
  struct Function {
    std::string key;
    std::optional<cpu::ObjectCode> object;
  };
  std::string directory;            // empty: no cache
  std::vector<Function> functions;  // all that have a body, in the module's order, which no stage changes

  // Then there is nothing to do for stages schedule and codegen.
  bool isWhole() const {
    return !functions.empty() && llvm::all_of(functions, [](const auto &f) { return f.object.has_value(); });
  }
};

// Looks for the code of a program that is at the start of stage `next`, schedule or a later one. Functions whose code
// is found become declarations.
CachedCode takeCode(mlir::ModuleOp module, Stage next, const targets::Target &target, const std::string &directory,
                    const StageListener &listener);

// The same model for another processor. All variants agree on weights, states and arena.
struct Variant {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  targets::Target target;
  CachedCode cached;
};

struct ProductOptions {
  Product product = Product::Program;
  targets::Target target;
  std::vector<Variant> variants;   // code for further CPU levels, for programs and libraries
  std::string path;                // "-": standard output, for Llvm and Ir
  std::vector<uint8_t> tokenizer;  // a Tokenizer section; empty: none
  std::string programDirectory;    // of the talc command, to find the prebuilt runtime
  CachedCode cached;
  StageListener listener;
};

// `module` and those of the variants: after stage codegen, or with all code cached. On failure nothing is left at
// `path`.
llvm::Error writeProduct(mlir::ModuleOp module, const ProductOptions &options);

// Prints a module to a file or, for "-", to standard output.
llvm::Error printModule(mlir::ModuleOp module, const std::string &path);

}  // namespace talc
