// SPDX-License-Identifier: Apache-2.0
// Collects the remarks of passes about their decisions.
#pragma once

#include <functional>
#include <string>

namespace mlir {
class MLIRContext;
}  // namespace mlir

namespace talc::tools {

// From now on remarks whose category matches the regular expression `printed` (empty: none) are written to standard
// error, a line each; `listener`, if there is one, gets all of them. Returns what is wrong with the expression ("is
// ..."), or nothing.
std::string collectRemarks(mlir::MLIRContext &context, const std::string &printed,
                           std::function<void(std::string line)> listener);

}  // namespace talc::tools
