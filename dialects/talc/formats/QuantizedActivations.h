// SPDX-License-Identifier: Apache-2.0
// The storage formats that activations are rounded to, for weights that kernels multiply as integers. No header of
// MLIR.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

namespace talc {

// What rows of so many features are rounded to beside a weight of a format; null: kernels widen the weight.
const StorageFormat *activationFormatFor(const StorageFormat &weight, int64_t features);

// Rows beside blocks of 32 have their sums times minus this: with levels that count from here, sums of products begin
// with what lies in memory, and no instruction makes it.
constexpr int64_t foldedZeroPoint = 16;

}  // namespace talc
