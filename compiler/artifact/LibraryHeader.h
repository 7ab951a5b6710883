// SPDX-License-Identifier: Apache-2.0
// Writes the C header that belongs to a model compiled as a shared library or an object.
#pragma once

#include "compiler/artifact/OutputFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace talc {

// Of the function that opens the model of DIR/libNAME.so or DIR/NAME.o.
std::string openFunctionName(const std::string &path);

// For such a file: DIR/NAME.h, which needs no other header of talc. Complete but for commit().
llvm::Expected<std::unique_ptr<OutputFile>> writeLibraryHeader(mlir::ModuleOp module, const std::string &path);

}  // namespace talc
