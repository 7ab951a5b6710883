// SPDX-License-Identifier: Apache-2.0
// Passes the debugging flags of MLIR and LLVM on to their own parser.
#pragma once

#include "llvm/Support/LogicalResult.h"

#include <string>
#include <vector>

namespace mlir {
class PassManager;
}  // namespace mlir

namespace talc::tools {

// Returns an error for the first word that is not a flag of MLIR or LLVM, or an empty text. `others` are options that
// may have been meant.
std::string findUnknownFlag(const std::vector<std::string> &flags, std::vector<std::string> others);

// Applies the flags. Returns an error for a wrong value, or an empty text. The passes of `target` may have been meant.
std::string applyFlags(const std::vector<std::string> &flags, const std::string &target);

// Configures passes as the flags ask. Fails if the flags contradict each other.
llvm::LogicalResult configurePasses(mlir::PassManager &passes);

}  // namespace talc::tools
