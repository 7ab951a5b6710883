// SPDX-License-Identifier: Apache-2.0
// The settings of generation that a model's authors chose: talc.generation, as an artifact stores it.
#pragma once

#include "runtime/artifact/GenerationSettings.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

namespace talc {

// What the module does not say is neutral. Fails for a setting that the table does not have, or not with this value.
llvm::Expected<artifact::StoredSettings> readGeneration(mlir::ModuleOp module, uint32_t vocabularySize);

}  // namespace talc
