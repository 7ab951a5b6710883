// SPDX-License-Identifier: Apache-2.0
// How what blocks of keys yield is brought together, in their order.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// The score of a key that is not seen: finite, so that there is no inf - inf.
constexpr double maskedScore = -1e30;

mlir::Value exp2(Emitter &e, mlir::Value x);

// The largest score and the sum of weights of some keys.
struct SoftmaxState {
  mlir::Value maximum, sum;
};

// Two of these brought together: `before` was scaled by `factor`, `block` by `gain`.
struct MergedSoftmax {
  SoftmaxState merged;
  mlir::Value factor, gain;
};
MergedSoftmax mergeSoftmax(Emitter &e, SoftmaxState before, SoftmaxState block);
// The weighted values that belong to them.
mlir::Value mergeSoftmax(Emitter &e, mlir::Value output, mlir::Value factor, mlir::Value part, mlir::Value gain);
// 1 / sum, zero where no key was seen.
mlir::Value inverseSum(Emitter &e, mlir::Value sum);
// 1 / sum of what was weighed and others together, for the values of the former.
mlir::Value inverseSum(Emitter &e, SoftmaxState all, SoftmaxState others);
// The same of a sink's score.
mlir::Value inverseSum(Emitter &e, SoftmaxState all, mlir::Value sink);
// What there is before the first block.
SoftmaxState emptySoftmax(Emitter &e);

}  // namespace talc
