// SPDX-License-Identifier: Apache-2.0
// What the threads of a subgroup do together, as instructions of NVIDIA GPUs: products of matrices, loads of their
// fragments, asynchronous copies to shared memory.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace talc {

void addNvgpuPatterns(mlir::RewritePatternSet &patterns);

}  // namespace talc
