// SPDX-License-Identifier: Apache-2.0
// The whole compiler on one page: every stage, and for every pass a sentence on why it runs there. Targets add the
// passes that only their machines need: compiler/targets/cpu/CpuPasses.cpp.
#include "compiler/Pipeline.h"

#include "compiler/passes/Passes.h"
#include "compiler/passes/StageEnd.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc {

static void addOptimize(OpPassManager &passes, const PipelineOptions &options) {
  // Before any pass changes the program, so that errors speak of what the user wrote.
  passes.addPass(createCheckModel());
  if (options.trains) {
    // Sequences are whole and nothing is kept between steps, so that a decoder is an encoder with a causal mask.
    passes.addPass(createWholeSequences());
    passes.addPass(createDifferentiate());
    // Backward functions then use the ops that forward functions use, and what optimizes these.
    passes.addPass(createSimplifyGradients());
  }
  // Before any pass changes a weight: with a size in bits, formats follow from the errors they cause.
  passes.addPass(createAssignFormats({options.weights}));
  // From here on a weight has one storage format in every function.
  passes.addPass(createSpecializeFormats());
  // Gate and up become one op before merge-projections can take them for two plain projections.
  passes.addPass(createFuseGatedLinear());
  // One wide matmul for q, k and v: the activations are read once.
  passes.addPass(createMergeProjections());
  // From here on attention reads a KV cache, so that one kernel serves encoders and decoders.
  passes.addPass(createMaterializeKv());
  // A table of cosines and sines is a weight like any other; it must exist before recipes are hoisted.
  passes.addPass(createTabulateRope());
  // One program for many tokens, one for a single token; both refer to the same weights.
  passes.addPass(createSplitEntries());
  // Weights get the layout that the target's kernels read best, and the element type of their storage format.
  options.target->addWeightPacking(passes);
  // Activations follow the formats of the packed weights: int8, bf16, or f32.
  if (options.compute != targets::Compute::F32)
    options.target->addActivationQuantization(passes, options.compute);
  passes.addPass(createShareEmbedding());
  // Recipes inside of layer functions become weights of the module; equal ones are stored once.
  passes.addPass(createHoistRecipes());
  endStage(passes, {"builtin", "func", "talc"});
}

static void addLower(OpPassManager &passes) {
  // Again, since a program may come from a file: from here on nothing tells tokens from sequences.
  passes.addPass(createCheckModel());
  passes.addPass(createConvertTalcToKernel());
  // Chains of elementwise ops become one before they move into an epilogue.
  passes.addPass(createLinalgElementwiseOpFusionPass());
  passes.addPass(createFuseEpilogues());
  // No CSE here: it would merge all empty tensors, which have to become different buffers.
  passes.addPass(createVerifyIr());
  passes.addPass(createCanonicalizerPass());
  checkDialects(passes, {"builtin", "func", "talc", "kernel", "linalg", "tensor", "arith", "math", "bufferization"});
}

static void addBufferize(OpPassManager &passes, const PipelineOptions &options) {
  // The layout of KV caches decides which tasks the target can make, and how much memory there is to plan.
  (options.layoutTarget ? options.layoutTarget : options.target)->addKvLayout(passes);
  // The producer of a result writes straight into its destination.
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions oneShot;
  oneShot.bufferizeFunctionBoundaries = true;
  oneShot.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createOneShotBufferizePass(oneShot));
  // Layer functions return the buffer that their caller passed.
  passes.addPass(bufferization::createDropEquivalentBufferResultsPass());
  passes.addPass(createVerifyIr());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  // Before work is divided, the target splits ops that are too large for one task: split-KV, split-K.
  options.target->addOpSplitting(passes);
  // The division of the work is part of a kernel, and decides where barriers are needed; barriers come before the
  // memory plan, so that no buffer is reused too early.
  passes.addPass(createDivideWork());
  passes.addPass(createOutlineKernels());
  passes.addPass(createInsertBarriers());
  passes.addPass(createPlanMemory());
  // Proves that the three passes before agree; each of them reads the program in its own way.
  passes.addPass(createCheckStep());
  // The calls of kernels are final: lists what each of them costs, and marks where it ends.
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
