// SPDX-License-Identifier: Apache-2.0
// The compiler as a library: it turns a model in the talc dialect into a program, a library, an object or a listing.
//
//   llvm::Expected<std::vector<targets::TargetPtr>> targets = targets::parseTargets("native");
//   CompileRequest request;
//   request.targets = *targets;
//   request.output = "app";
//   llvm::Error error = compile(module, request);
//
// Every function fails with complete lines of text, "error[TNNNN]: ...".
#pragma once

#include "compiler/Pipeline.h"
#include "compiler/quantize/CalibrationOptions.h"
#include "dialects/talc/formats/FormatChoice.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"

#include <functional>
#include <string>
#include <vector>

namespace talc {

// Registers the dialects of all stages.
void registerDialects(mlir::DialectRegistry &registry);

// Receives the progress of a compilation; each function may be empty.
struct StageListener {
  std::function<void(llvm::StringRef name)> stage;           // a stage begins; an empty name: the compilation has ended
  std::function<void(llvm::StringRef name)> part;            // a pass of that stage begins, or a part of stage package
  std::function<void(uint64_t done, uint64_t total)> share;  // of the part that writes weights, in bytes

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
  std::string dumpDirectory;  // receives the result of every stage as NUMBER-STAGE.mlir; empty: no dumps
  std::string source;         // the .mlir file that the program was read from, for errors to quote; empty: none
  StageListener listener;
  // Adds the instrumentation that MLIR's own flags ask for (--mlir-print-ir-after-all, ...); may be empty.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

llvm::Error runStages(mlir::ModuleOp module, const StageRun &run);

// Runs only the beginning of stage schedule, which gives kernels their plans.
llvm::Error assignPlans(mlir::ModuleOp module, const StageRun &run);

// Parses an .mlir file and verifies it.
llvm::Expected<mlir::OwningOpRef<mlir::ModuleOp>> parseModule(const std::string &path, mlir::MLIRContext &context);

enum class EmitKind {
  Program,  // an executable that needs nothing else
  Library,  // a shared library, and beside it a C header
  Object,   // the model as an object that is linked into programs, and beside it a C header
  Code,     // the generated code as a relocatable object, without weights
  Listing,  // the generated code as text, in one of the target's listing kinds
  Ir,       // the module as it is
};

struct CompileRequest {
  // The targets to generate code for, at least one, the best first (parseTargets). The first decides how weights are
  // packed. Only programs, libraries and objects can have several.
  std::vector<targets::TargetPtr> targets;
  FormatChoice weights;            // storage formats, or a size in bits for which formats are found
  CalibrationOptions calibration;  // for a size in bits
  std::string generator = targets::builtinGenerator.str();  // of the code of kernels: mlir, halide, or auto
  targets::Compute compute = targets::Compute::Integers;
  bool trains = false;  // compiles a step of training, in f32
  // Plan overrides for each target (Target::checkPlans); the last one is for all further targets. Without any, the cost
  // model decides. The same target may be listed several times with different overrides.
  std::vector<std::string> plans;
  Stage first = Stage::Optimize, last = Stage::Package;  // both included; before Package the module is printed
  EmitKind emit = EmitKind::Program;
  std::string listing;             // for EmitKind::Listing: its kind
  std::string source;              // the .mlir file that the program was read from, for errors to quote; empty: none
  std::string output;              // a path, or "-" for standard output, if text is written
  std::vector<uint8_t> tokenizer;  // a Tokenizer section; empty: none
  // Called with the model before its first stage, after calibration; may be empty.
  std::function<llvm::Error(mlir::ModuleOp)> inspectModel;
  // Called with the first target's program between stages codegen and package; may be empty.
  std::function<llvm::Error(const targets::Target &, mlir::ModuleOp)> inspectCode;
  std::string programDirectory;  // the launcher stubs are looked for relative to it
  // The cache of functions' object code (see defaultCacheDirectory); empty: no cache. Requests for a listing or a dump
  // do not use it.
  std::string cacheDirectory;
  std::string dumpDirectory;  // receives the result of every stage as NUMBER-STAGE.mlir; empty: no dumps
  // Also receives the stages of further targets and, if there are several targets, the parts of all: then names end in
  // a space and the target's name.
  StageListener listener;
  // Adds instrumentation, as in StageRun; `further`: to the stages that a further target has for itself.
  std::function<mlir::LogicalResult(mlir::PassManager &, bool further)> configure;
};

// Compiles a module that is ready for the stage `first`, and modifies it. On failure no file is left at `output`.
llvm::Error compile(mlir::ModuleOp module, const CompileRequest &request);

// The directory of the code cache: `wanted`, else the variable TALC_CACHE, else the directory that the
// XDG base directory specification names. Empty for "off".
std::string defaultCacheDirectory(std::string choice = "");

// Prints a module to a file or, for "-", to standard output.
llvm::Error printModule(mlir::ModuleOp module, const std::string &path);

}  // namespace talc
