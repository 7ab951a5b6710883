// SPDX-License-Identifier: Apache-2.0
// Traces operations back to operations of the imported program. Passes preserve locations, so these hold the names.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <set>
#include <string>

namespace talc::tools {

// Gives every operation of the program a unique name: its function and a number, such as layers:7.
void nameOrigins(mlir::ModuleOp module);

// Returns the name from nameOrigins, or an empty text.
std::string getOrigin(mlir::Operation *op);
// Returns the names of all operations that this one was made from.
std::set<std::string> getOrigins(mlir::Operation *op);

}  // namespace talc::tools
