// SPDX-License-Identifier: Apache-2.0
// Takes the importance of columns from an importance matrix, such as llama.cpp's imatrix.
#pragma once

#include "compiler/quantize/CalibrationOptions.h"

#include "mlir/IR/BuiltinOps.h"

namespace talc {

// Sets talc.importance on the matrices that the file lists; in others all columns count alike.
llvm::Error readImportance(mlir::ModuleOp module, const CalibrationOptions &options);

}  // namespace talc
