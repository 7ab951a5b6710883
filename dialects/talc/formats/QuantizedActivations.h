// SPDX-License-Identifier: Apache-2.0
// The storage formats of quantized activations, for weights that kernels multiply as integers. It includes no header of
// MLIR.
#pragma once

#include "dialects/talc/formats/StorageFormat.h"

namespace talc {

// The format of activations with `features` features for a weight; null if kernels dequantize the weight instead.
// `varyWidely`: the magnitudes of neighbors differ much, as behind an activation function or a gate.
const StorageFormat *activationFormatFor(const StorageFormat &weight, int64_t features, bool varyWidely);

// Whether kernels multiply a weight by activations in this format.
bool multipliesActivations(const StorageFormat &weight, int64_t features, const StorageFormat *activations);

// q8_sums store their sums times minus this. Accumulators of weights with this zero point start from that value, so
// that no instruction has to correct for the zero point.
constexpr int64_t foldedZeroPoint = 16;

}  // namespace talc
