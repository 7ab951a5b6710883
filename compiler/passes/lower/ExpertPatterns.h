// SPDX-License-Identifier: Apache-2.0
// Lowers mixtures of experts: talc.route and talc.experts.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace talc {

void addExpertPatterns(mlir::RewritePatternSet &patterns);

}  // namespace talc
