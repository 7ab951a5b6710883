// SPDX-License-Identifier: Apache-2.0
// What the runtime must know of a model, gathered from the attributes of its module.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace talc {

// Fails for facts of the model (generation defaults, tokens) that an artifact cannot hold.
llvm::Expected<artifact::ModelInfo> makeModelInfo(mlir::ModuleOp module);

}  // namespace talc
