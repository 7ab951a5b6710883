// SPDX-License-Identifier: Apache-2.0
// Lets the flags of MLIR and LLVM that are made for debugging compilers through to their own parser.
#pragma once

#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace mlir {
class PassManager;
}  // namespace mlir

namespace talc::tools {

// What is wrong with the first word that is no flag of MLIR or LLVM, or empty. `others`: options that may have been
// meant as well.
std::string findUnknownFlag(const std::vector<std::string> &flags, std::vector<std::string> others);

// Hands the flags over. Returns what is wrong with the value of one, or nothing. `target`: whose
// passes may have been meant.
std::string applyFlags(const std::vector<std::string> &flags, const std::string &target);

// What the flags ask of passes. Fails if they contradict each other.
llvm::LogicalResult configurePasses(mlir::PassManager &passes);

}  // namespace talc::tools
