// SPDX-License-Identifier: Apache-2.0
// Polynomials for exp, exp2, tanh, erf and log.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace talc {

// Patterns for vectors of f32; with `scalars` for scalars, too.
void populateMathPolynomials(mlir::RewritePatternSet &patterns, bool scalars);
// Whether functions of this type are expanded.
bool becomesPolynomial(mlir::Type type, bool scalars);

}  // namespace talc
