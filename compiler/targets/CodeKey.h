// SPDX-License-Identifier: Apache-2.0
// Names the object code of a function by a hash of everything that determines it.
#pragma once

#include "compiler/targets/Target.h"

#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace talc::targets {

// The functions of a module at the start of a stage, schedule or a later one.
class CodeKeys {
public:
  CodeKeys(mlir::ModuleOp module, llvm::StringRef stage, const Target &target);

  // Hexadecimal digits, equal for functions with the same name and body that refer to equal symbols, for equal targets,
  // and equal builds of talc and LLVM. Other functions, the values of weights, and the module's attributes about
  // results do not count.
  std::string key(mlir::FunctionOpInterface function) const;

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  std::string common;  // the part that all keys of the module have in common
};

}  // namespace talc::targets
