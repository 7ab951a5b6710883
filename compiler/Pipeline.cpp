// SPDX-License-Identifier: Apache-2.0
// The whole compiler on one page: every stage, and for every pass a sentence on why it stands there.
#include "compiler/Pipeline.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/RegisterTile.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc {

static void checkDialects(OpPassManager &passes, ArrayRef<std::string> dialects) {
  passes.addPass(createCheckDialects({SmallVector<std::string>(dialects)}));
}

// Branches are for LLVM to simplify: looking for them here takes longer than all else.
static void canonicalize(OpPassManager &passes) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  passes.addPass(createCanonicalizerPass(config));
}

// Every stage ends here: tidies up, then names any operation that does not belong into the next stage.
static void endStage(OpPassManager &passes, ArrayRef<std::string> dialects) {
  canonicalize(passes);
  passes.addPass(createCSEPass());
  checkDialects(passes, dialects);
}

static void addOptimize(OpPassManager &passes, const PipelineOptions &options) {
  // Before anything is changed, so that errors speak of what the user wrote.
  passes.addPass(createCheckModel());
  // Gate and up become one op before merge-projections can take them for two plain projections.
  passes.addPass(createFuseGatedLinear());
  // One wide contraction for q, k and v: the activations are read once.
  passes.addPass(createMergeProjections());
  // From here on attention reads a state, so that one kernel serves encoders and decoders.
  passes.addPass(createMaterializeKeys());
  // A table of cosines and sines is a weight like any other; it must exist before weights are hoisted.
  passes.addPass(createTabulateRope());
  // One program for many tokens, one for a single token; both refer to the same weights.
  passes.addPass(createSplitPhases());
  // The element type and layout of everything that is stored. Panels are as wide as the tiles that take them.
  passes.addPass(createPackWeights({options.weights, tileColumns(tileRows, options.target.vectorLanes)}));
  passes.addPass(createShareEmbedding({options.weights}));
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
  passes.addPass(createCanonicalizerPass());
  checkDialects(passes, {"builtin", "func", "talc", "kernel", "linalg", "tensor", "arith", "math", "bufferization"});
}

static void addBufferize(OpPassManager &passes) {
  // The producer of a result writes straight into its destination.
  passes.addPass(bufferization::createEmptyTensorEliminationPass());
  bufferization::OneShotBufferizePassOptions oneShot;
  oneShot.bufferizeFunctionBoundaries = true;
  oneShot.functionBoundaryTypeConversion = bufferization::LayoutMapOption::IdentityLayoutMap;
  passes.addPass(bufferization::createOneShotBufferizePass(oneShot));
  // Blocks return the buffer that they were given.
  passes.addPass(bufferization::createDropEquivalentBufferResultsPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  // A single row's attention falls into as many tasks as it has blocks of keys, before tasks are dealt out.
  passes.addPass(createSplitKeys());
  // The division of the work is part of a kernel, and decides where barriers stand; barriers come before the plan, so
  // that no buffer is reused too early.
  passes.addPass(createDivideWork());
  passes.addPass(createOutlineKernels());
  passes.addPass(createInsertBarriers());
  passes.addPass(createPlanMemory());
  // When the calls of kernels are final: what each one costs, and where it ends.
  passes.addPass(createMarkKernels());
  endStage(passes, {"builtin", "func", "talc", "kernel", "linalg", "memref", "arith", "math"});
}

static void addSchedule(OpPassManager &passes, const PipelineOptions &options) {
  int64_t lanes = options.target.vectorLanes;
  ExpandContractOptions contract;
  contract.lanes = lanes;
  contract.cacheBytes = options.target.cacheBytes;
  passes.addPass(createExpandContract(contract));
  passes.addPass(createExpandAttention({lanes}));
  passes.addPass(createExpandRows({lanes}));
  // When the bodies of all tasks are loops: which thread runs which.
  passes.addPass(createDistributeTasks());
  // After the loops: the polynomials work on vectors.
  passes.addPass(createExpandMath());
  endStage(passes, {"builtin", "func", "talc", "kernel", "memref", "arith", "math", "vector", "scf"});
}

static void addCodegen(OpPassManager &passes) {
  passes.addPass(createConvertStepToLLVM());
  // Blocks pass some ten buffers to each kernel.
  passes.addPass(createCompactArguments());
  canonicalize(passes);
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  // Upstream's way from vectors, loops and buffers to LLVM; an earlier pass makes ops for a later one (subviews make
  // affine maps, masks of vectors make arith), and the last converts all that is left at once.
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createMaterializeMasks());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
  endStage(passes, {"builtin", "talc", "llvm"});
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
    return addBufferize(passes);
  case Stage::Schedule:
    return addSchedule(passes, options);
  case Stage::Codegen:
    return addCodegen(passes);
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
