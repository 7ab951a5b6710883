// SPDX-License-Identifier: Apache-2.0
// The keys without values that stand before the first of a sequence (zero_start).
#pragma once

#include "compiler/passes/schedule/attention/OnlineSoftmax.h"

namespace talc {

// What they weigh for a row of the step's queries at a position, in every lane.
SoftmaxState zeroKeys(Emitter &e, kernel::AttentionOp op, mlir::Value row, mlir::Value head, mlir::Value position);

// How many distances a row's bias has numbers for; the first is that of all further ones.
int64_t biasDistances(kernel::AttentionOp op);

}  // namespace talc
