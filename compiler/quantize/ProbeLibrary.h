// SPDX-License-Identifier: Apache-2.0
// Copies of a model, compiled to be run by calibration.
#pragma once

#include "compiler/Compiler.h"

namespace talc {

// Compiles a copy of a model for this machine to a shared library, with default arithmetic. `request` is that of the
// model itself: the copy takes its tokenizer, its program directory and the cache of its calibration.
llvm::Error compileProbe(mlir::ModuleOp copy, const CompileRequest &request, const FormatChoice &weights,
                         const std::string &library);

}  // namespace talc
