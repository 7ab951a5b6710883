// SPDX-License-Identifier: Apache-2.0
// A processor's passes, and for every pass a sentence on why it stands there; the others stand in
// compiler/Pipeline.cpp.
#include "compiler/generators/cpu/Hgen.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/StageEnd.h"
#include "compiler/passes/schedule/PlanOverrides.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"
#include "compiler/targets/cpu/CpuTarget.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc::cpu {

void CpuTarget::addWeightPacking(OpPassManager &passes) const {
  // Panels are as wide as the tiles that take them.
  passes.addPass(createPackWeights({registerTileColumns(registerTileRows, cpu.traits)}));
}

void CpuTarget::addActivationQuantization(OpPassManager &passes, targets::Compute compute) const {
  passes.addPass(createQuantizeActivations({compute == targets::Compute::Bf16 && cpu.traits.bf16Pairs}));
}

void CpuTarget::addKvLayout(OpPassManager &passes) const {
  // The widest vectors of all processors, so that code for several of them shares states. Rings of whole blocks.
  constexpr int64_t ring = 256;
  passes.addPass(createLayoutKvCache({kvPanelTokens, ring}));
}

void CpuTarget::addOpSplitting(OpPassManager &passes) const {
  // A single row's attention falls into as many tasks as it has blocks of keys.
  passes.addPass(createSplitKv());
}

void CpuTarget::addPlans(OpPassManager &passes, const std::string &plans, const std::string &generator) const {
  // All passes of the stage ask for these.
  passes.addPass(createAttachIsaTraits(cpu.traits));
  passes.addPass(
      createAssignPlans({cpu.traits.lanes, cpu.cacheBytes, cpu.dropsPrefetches, cpu.prefetchesStreams, plans}));
  // A plan may say who makes the code.
  if (generator != targets::builtinGenerator)
    passes.addPass(createAssignGenerators({generator, hgenBuild()}));
}

std::string CpuTarget::checkPlans(StringRef plans) const {
  return PlanOverrides(isCpuParameter).parse(plans);
}

void CpuTarget::addSchedule(OpPassManager &passes) const {
  int64_t lanes = cpu.traits.lanes;
  // Kernels of other generators come first; all others are expanded below.
  passes.addPass(createMatmulToHalide({lanes, cpu.halideName}));
  passes.addPass(createAttentionToHalide({lanes, cpu.halideName}));
  passes.addPass(createRowsToHalide({lanes, cpu.halideName}));
  // Matmuls that AMX cannot compute are expanded by the next pass.
  if (cpu.amx)
    passes.addPass(createMatmulToAmx({lanes}));
  passes.addPass(createExpandMatmul({lanes}));
  passes.addPass(createExpandMoe({lanes}));
  passes.addPass(createExpandAttention({lanes}));
  passes.addPass(createExpandMemory({lanes}));
  passes.addPass(createExpandRecurrences({lanes}));
  passes.addPass(createExpandGradients({lanes}));
  passes.addPass(createExpandRows({lanes}));
  // When the bodies of all tasks are loops: which thread runs which.
  passes.addPass(createDistributeTasks());
  // After the loops: the polynomials work on vectors.
  passes.addPass(createExpandMath());
  endStage(passes, {"builtin", "func", "talc", "kernel", "memref", "arith", "math", "vector", "scf", "amx", "llvm"});
}

void CpuTarget::addCodegen(OpPassManager &passes) const {
  // The next pass takes what is left of the kernel dialect for reads of the step.
  passes.addPass(createConvertDots({cpu.dots}));
  passes.addPass(createConvertDotPairs({cpu.bf16}));
  passes.addPass(createConvertStepToLLVM());
  // Blocks pass some ten buffers to each kernel.
  passes.addPass(createCompactArguments());
  canonicalize(passes);
  passes.addPass(createLoopInvariantCodeMotionPass());
  passes.addPass(createCSEPass());
  addConversionToLLVM(passes);
  endStage(passes, {"builtin", "talc", "llvm"});
}

}  // namespace talc::cpu
