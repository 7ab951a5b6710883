// SPDX-License-Identifier: Apache-2.0
// Finds out how much the columns of weights matter, and searches for storage formats that keep to a size.
#pragma once

#include "compiler/Compiler.h"

namespace talc {

// Sets `importance` on the matrices of a model, and `format` to the formats that change its predictions least.
// With a text, copies of the model that return the inputs of their matmuls and their predictions are compiled for this
// machine, and read it in windows. compile() calls this if its request asks for calibration.
llvm::Error calibrate(mlir::ModuleOp module, const CompileRequest &request);

// Sets importance on the matrices that an importance matrix lists; in others all columns count alike.
// (ImportanceMatrix.cpp)
llvm::Error applyImportanceMatrix(mlir::ModuleOp module, const CalibrationOptions &options);

// Compiles a copy of a model for this machine to a shared library, with default arithmetic. `request` is that of the
// model itself: the copy takes its tokenizer, its program directory and the cache of its calibration.
llvm::Error compileProbe(mlir::ModuleOp copy, const CompileRequest &request, const FormatChoice &weights,
                         const std::string &library);

}  // namespace talc
