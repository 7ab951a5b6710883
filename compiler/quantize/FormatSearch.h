// SPDX-License-Identifier: Apache-2.0
// Searches for the formats that together change predictions least.
#pragma once

#include "compiler/quantize/Divergence.h"

namespace talc {

// Sets talc.format on the matrices' weights, so that they keep to the size in `weights`: to what assign-formats would
// choose or to one format for all, whichever changes predictions less, and in small models to better formats that a
// local search finds.
llvm::Error searchFormats(mlir::ModuleOp module, const FormatChoice &weights, const Divergence &divergence);

}  // namespace talc
