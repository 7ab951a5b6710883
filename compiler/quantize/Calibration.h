// SPDX-License-Identifier: Apache-2.0
// Finds out how much the columns of weights matter, and searches for storage formats that keep to a size.
#pragma once

#include "compiler/Compiler.h"

namespace talc {

// Sets talc.importance on the matrices of a model, and talc.format to the formats that change its predictions least.
// With a text, copies of the model that return the inputs of their matmuls and their predictions are compiled for this
// machine, and read it in windows. compile() calls this if its request asks for calibration.
llvm::Error calibrate(mlir::ModuleOp module, const CompileRequest &request);

}  // namespace talc
