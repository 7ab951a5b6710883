// SPDX-License-Identifier: Apache-2.0
// Polynomials for exp, exp2, tanh, erf and log.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace talc {

// Of vectors of f32; `scalars`: of single numbers, too.
void populateMathPolynomials(mlir::RewritePatternSet &patterns, bool scalars);
// Whether functions of such numbers are among them.
bool becomesPolynomial(mlir::Type type, bool scalars);

}  // namespace talc
