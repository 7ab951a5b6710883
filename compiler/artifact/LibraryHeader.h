// SPDX-License-Identifier: Apache-2.0
// Writes the C header that belongs to a model compiled as a shared library.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace talc {

// For DIR/libNAME.so: DIR/NAME.h, which needs no other header of talc. Returns its path.
llvm::Expected<std::string> writeLibraryHeader(mlir::ModuleOp module, const std::string &libraryPath);

}  // namespace talc
