// SPDX-License-Identifier: Apache-2.0
// Names object code by a hash of everything that it follows from.
#pragma once

#include "compiler/targets/Target.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace talc::cpu {

// Hexadecimal digits: equal for equal programs at the start of a stage from schedule on, equal targets, and equal
// builds of talc and LLVM. The model's name, directory, labels,
// pooling and settings of generation and the values of its weights do not count.
std::string codeKey(mlir::ModuleOp module, llvm::StringRef stage, const targets::Target &target);

}  // namespace talc::cpu
