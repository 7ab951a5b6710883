// SPDX-License-Identifier: Apache-2.0
// Adds the passes that end a stage.
#include "compiler/passes/StageEnd.h"

#include "compiler/passes/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc {

void canonicalize(OpPassManager &passes) {
  passes.addPass(createVerifyIr());
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  passes.addPass(createCanonicalizerPass(config));
}

// Earlier passes create ops that later ones convert (subviews create affine maps, vector masks create arith); the last
// pass converts the rest.
void addConversionToLLVM(OpPassManager &passes) {
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(createMaterializeMasks());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

void checkDialects(OpPassManager &passes, ArrayRef<std::string> dialects) {
  passes.addPass(createCheckDialects({SmallVector<std::string>(dialects)}));
}

void endStage(OpPassManager &passes, ArrayRef<std::string> dialects) {
  canonicalize(passes);
  passes.addPass(createCSEPass());
  checkDialects(passes, dialects);
}

}  // namespace talc
