// SPDX-License-Identifier: Apache-2.0
// The values that a weight may have, and errors for others.
#pragma once

#include "compiler/artifact/weights/WeightGraph.h"

#include "llvm/ADT/ArrayRef.h"

namespace talc {

// Whether all values are finite; in a vector minus infinity is allowed, as a bias that forbids a token or a class.
bool areStorableValues(llvm::ArrayRef<float> values, bool inVector);

// The error for a weight that cannot be stored in a format. It names the first forbidden value in the model's files,
// or, if there is none, the value that is too large.
llvm::Error outOfRangeError(WeightOp weight, const StorageFormat &format, WeightGraph &graph);

}  // namespace talc
