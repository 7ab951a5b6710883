// SPDX-License-Identifier: Apache-2.0
// The stages of the compiler and the passes of each.
#pragma once

#include "compiler/targets/Target.h"

#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string>

namespace talc {

// In the order in which they run. `Package` has no passes: it writes the artifact.
enum class Stage { Import, Optimize, Lower, Bufferize, Schedule, Codegen, Package };
constexpr Stage allStages[] = {Stage::Import,   Stage::Optimize, Stage::Lower,  Stage::Bufferize,
                               Stage::Schedule, Stage::Codegen,  Stage::Package};

// The name of a stage in options, dump files and folders, and the stage that has a name.
llvm::StringRef stageName(Stage stage);
std::optional<Stage> parseStage(llvm::StringRef name);

struct PipelineOptions {
  std::string weights = "checkpoint";  // storage formats of weights (FormatChoice.h)
  targets::TargetPtr target;
  std::string generator = targets::builtinGenerator.str();  // of the code of kernels: mlir, halide or auto
  targets::Compute compute = targets::Compute::Integers;
  std::string plans = {};                // plan overrides (Target::checkPlans); empty: the cost model decides
  targets::TargetPtr layoutTarget = {};  // decides the layout of KV caches; null: `target`
  bool trains = false;                   // the program is a step of training instead of inference
};

// Adds the passes of one stage to a manager of ModuleOp passes.
void addStage(mlir::OpPassManager &passes, Stage stage, const PipelineOptions &options);

}  // namespace talc
