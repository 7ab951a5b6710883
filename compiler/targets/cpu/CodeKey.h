// SPDX-License-Identifier: Apache-2.0
// Names object code by a hash of everything that it follows from.
#pragma once

#include "compiler/targets/Target.h"

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace talc::cpu {

// Hexadecimal digits: equal for equal code of the llvm dialect, target, flags, and builds of talc and LLVM. Weights,
// names of files and other operations do not count.
std::string codeKey(mlir::ModuleOp module, const targets::Target &target, llvm::StringRef flags);

}  // namespace talc::cpu
