// SPDX-License-Identifier: Apache-2.0
// The zero keys before the first token of a sequence (zero_start, Transformer-XL).
#pragma once

#include "compiler/passes/schedule/attention/OnlineSoftmax.h"

namespace talc {

// Their softmax state for a query at a position, in every lane.
SoftmaxState zeroKeys(Emitter &e, kernel::AttentionOp op, mlir::Value row, mlir::Value head, mlir::Value position);

// The number of distances of row_bias; the first column is that of all greater distances.
int64_t biasDistances(kernel::AttentionOp op);

}  // namespace talc
