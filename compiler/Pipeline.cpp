// SPDX-License-Identifier: Apache-2.0
// The whole compiler on one page: every stage, and for every pass a sentence on why it stands there. What only a kind
// of machine needs, the target adds: compiler/targets/cpu/CpuPasses.cpp.
#include "compiler/Pipeline.h"

#include "compiler/passes/Passes.h"
#include "compiler/passes/StageEnd.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc {

static void addOptimize(OpPassManager &passes, const PipelineOptions &options) {
  // Before anything is changed, so that errors speak of what the user wrote.
  passes.addPass(createCheckModel());
  // Before any pass changes a weight: with a size in bits, formats follow from the errors they cause.
  passes.addPass(createAssignFormats({options.weights}));
  // From here on a weight has one storage format in every function.
  passes.addPass(createSpecializeFormats());
  // Gate and up become one op before merge-projections can take them for two plain projections.
  passes.addPass(createFuseGatedLinear());
  // One wide matmul for q, k and v: the activations are read once.
  passes.addPass(createMergeProjections());
  // From here on attention reads a state, so that one kernel serves encoders and decoders.
  passes.addPass(createMaterializeKv());
  // A table of cosines and sines is a weight like any other; it must exist before weights are hoisted.
  passes.addPass(createTabulateRope());
  // One program for many tokens, one for a single token; both refer to the same weights.
  passes.addPass(createSplitEntries());
  // The element type and layout of everything that is stored: what the target's kernels read best.
  options.target->addWeightPacking(passes);
  // Which layers multiply integers or bf16, when the formats of all weights are known.
  if (options.compute != targets::Compute::F32)
    options.target->addActivationQuantization(passes, options.compute);
  passes.addPass(createShareEmbedding());
  // Recipes inside blocks turn into weights of the module; equal ones are stored once.
  passes.addPass(createHoistRecipes());
  endStage(passes, {"builtin", "func", "talc"});
}

static void addLower(OpPassManager &passes) {
  // Again, since a program may come from a file: from here on nothing knows which rows there are.
  passes.addPass(createCheckModel());
  passes.addPass(createConvertTalcToKernel());
  // Chains of elementwise ops become one before they move into an epilogue.
  passes.addPass(createLinalgElementwiseOpFusionPass());
  passes.addPass(createFuseEpilogues());
  // No CSE here: it would make one tensor of all empty ones, and they are to become different buffers.
  passes.addPass(createVerifyIr());
  passes.addPass(createCanonicalizerPass());
  checkDialects(passes, {"builtin", "func", "talc", "kernel", "linalg", "tensor", "arith", "math", "bufferization"});
}

static void addBufferize(OpPassManager &passes, const PipelineOptions &options) {
  // How states lie in memory decides what the target makes tasks of, and what memory there is to plan.
  (options.layouts ? options.layouts : options.target)->addKvLayout(passes);
  // The producer of a result writes straight into its destination.
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions oneShot;
  oneShot.bufferizeFunctionBoundaries = true;
  oneShot.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createOneShotBufferizePass(oneShot));
  // Blocks return the buffer that they were given.
  passes.addPass(bufferization::createDropEquivalentBufferResultsPass());
  passes.addPass(createVerifyIr());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  // What else the target makes tasks of, before tasks are dealt out.
  options.target->addOpSplitting(passes);
  // The division of the work is part of a kernel, and decides where barriers stand; barriers come before the plan, so
  // that no buffer is reused too early.
  passes.addPass(createDivideWork());
  passes.addPass(createOutlineKernels());
  passes.addPass(createInsertBarriers());
  passes.addPass(createPlanMemory());
  // A proof of the three passes before, which read the same program in other ways.
  passes.addPass(createCheckStep());
  // When the calls of kernels are final: what each one costs, and where it ends.
  passes.addPass(createMarkKernels());
  endStage(passes, {"builtin", "func", "talc", "kernel", "linalg", "memref", "arith", "math"});
}

void addStage(OpPassManager &passes, Stage stage, const PipelineOptions &options) {
  switch (stage) {
  case Stage::Import:
  case Stage::Package:
    return;
  case Stage::Optimize:
    return addOptimize(passes, options);
  case Stage::Lower:
    return addLower(passes);
  case Stage::Bufferize:
    return addBufferize(passes, options);
  case Stage::Schedule:
    options.target->addPlans(passes, options.plans, options.generator);
    return options.target->addSchedule(passes);
  case Stage::Codegen:
    return options.target->addCodegen(passes);
  }
}

llvm::StringRef stageName(Stage stage) {
  static constexpr llvm::StringLiteral names[] = {"import",   "optimize", "lower",  "bufferize",
                                                  "schedule", "codegen",  "package"};
  return names[static_cast<int>(stage)];
}

std::optional<Stage> parseStage(llvm::StringRef name) {
  for (Stage stage : allStages)
    if (stageName(stage) == name)
      return stage;
  return std::nullopt;
}

}  // namespace talc
