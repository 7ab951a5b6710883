// SPDX-License-Identifier: Apache-2.0
// Ops that treat every row by itself.
#pragma once

#include "compiler/reference/Evaluation.h"

#include <optional>

namespace talc::reference {

// The result of such an op, whose operands have as many rows; nothing for other ops.
std::optional<Matrix> evaluateRowWise(mlir::Operation *op, const Frame &frame, ActivationPrecision precision);

}  // namespace talc::reference
