// SPDX-License-Identifier: Apache-2.0
// Merges the partial softmax states (maximum, sum, output) of key blocks, in order.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// The score of a masked key. It is finite, so that inf - inf does not occur.
constexpr double maskedScore = -1e30;

mlir::Value exp2(Emitter &e, mlir::Value x);

// The maximal score and the sum of weights of some keys.
struct SoftmaxState {
  mlir::Value maximum, sum;
};

// Two merged states: `before` is scaled by `factor`, `block` by `gain`.
struct MergedSoftmax {
  SoftmaxState merged;
  mlir::Value factor, gain;
};
MergedSoftmax mergeSoftmax(Emitter &e, SoftmaxState before, SoftmaxState block);
// Merges the weighted sums of values of two states.
mlir::Value mergeSoftmax(Emitter &e, mlir::Value output, mlir::Value factor, mlir::Value partial, mlir::Value gain);
// 1 / sum; zero if no key is seen.
mlir::Value inverseSum(Emitter &e, mlir::Value sum);
// 1 / sum of a state merged with others, for the values of the first.
mlir::Value inverseSum(Emitter &e, SoftmaxState all, SoftmaxState others);
// The same with the score of an attention sink.
mlir::Value inverseSum(Emitter &e, SoftmaxState all, mlir::Value sink);
// The state before the first block.
SoftmaxState emptySoftmax(Emitter &e);

// The softmax state of the zero keys before the first token of a sequence (zero_start, Transformer-XL), for a query at a
// position, in every lane. (ZeroKeys.cpp)
SoftmaxState zeroKeys(Emitter &e, kernel::AttentionOp op, mlir::Value row, mlir::Value head, mlir::Value position);

// The number of distances of row_bias; the first column is that of all greater distances.
int64_t biasDistances(kernel::AttentionOp op);

}  // namespace talc
