// SPDX-License-Identifier: Apache-2.0
// Which values a weight may have, and what is wrong with others.
#pragma once

#include "compiler/artifact/WeightGraph.h"

#include "llvm/ADT/ArrayRef.h"

namespace talc {

// Finite numbers; in a vector minus infinity, too: a bias that forbids a token or a class.
bool areStorableValues(llvm::ArrayRef<float> values, bool inVector);

// Why a weight cannot be stored in a format: the first value in the model's files that may not be there, or, if all
// may, that one is too large.
llvm::Error outOfRangeError(WeightOp weight, const StorageFormat &format, WeightGraph &graph);

}  // namespace talc
