// SPDX-License-Identifier: Apache-2.0
// Prints the remarks of passes: what they chose, and why.
#pragma once

#include <string>

namespace mlir {
class MLIRContext;
}  // namespace mlir

namespace talc::tools {

// From now on remarks whose category matches the regular expression are written to standard error, a line each. Returns
// what is wrong with the expression, or nothing.
std::string printRemarks(mlir::MLIRContext &context, const std::string &categories);

}  // namespace talc::tools
