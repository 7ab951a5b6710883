// SPDX-License-Identifier: Apache-2.0
// Adds the passes that stages end with.
#include "compiler/passes/StageEnd.h"

#include "compiler/passes/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace talc {

void canonicalize(OpPassManager &passes) {
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  passes.addPass(createCanonicalizerPass(config));
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
