// SPDX-License-Identifier: Apache-2.0
// What features count, as a file says.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>

namespace talc::tools {

// Notes it at the matrices that multiply them (importance): of those that the file does not speak of all features
// count alike.
llvm::Error noteImportance(mlir::ModuleOp module, const std::string &path);

}  // namespace talc::tools
