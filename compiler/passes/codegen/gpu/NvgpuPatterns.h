// SPDX-License-Identifier: Apache-2.0
// Patterns that lower MMA, loads of fragments and asynchronous copies from nvgpu to NVVM.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace talc {

void addNvgpuPatterns(mlir::RewritePatternSet &patterns);

}  // namespace talc
