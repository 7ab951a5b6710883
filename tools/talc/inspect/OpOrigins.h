// SPDX-License-Identifier: Apache-2.0
// Which operations of the imported program a later one was made of. Passes hand locations on, so that is where the
// answer travels.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <set>
#include <string>

namespace talc::tools {

// Gives every operation of the program a name of its own: its function and a number, such as layers:7.
void nameOrigins(mlir::ModuleOp module);

// The name that nameOrigins gave the operation; empty: none.
std::string getOrigin(mlir::Operation *op);
// The names of all operations that this one was made of.
std::set<std::string> getOrigins(mlir::Operation *op);

}  // namespace talc::tools
