// SPDX-License-Identifier: Apache-2.0
// Writes the names of a model's classes as a section.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace talc {

// The section for the module's talc.labels; empty without that attribute. Fails unless every class has one name that is
// UTF-8 without NUL.
llvm::Expected<std::string> makeLabels(mlir::ModuleOp module, const artifact::ModelInfo &info);

}  // namespace talc
