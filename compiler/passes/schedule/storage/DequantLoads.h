// SPDX-License-Identifier: Apache-2.0
// Loads of values that are stored in quant blocks, as f32.
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"
#include "compiler/passes/schedule/storage/Loads.h"

namespace talc {

// A vector of neighboring lanes or, with one lane, of neighboring values.
mlir::Value dequantize(Emitter &e, const StorageFormat &format, const BlockAddress &place);
// One value.
mlir::Value dequantizeScalar(Emitter &e, const StorageFormat &format, const BlockAddress &place);

// The loads of a format; null if it does not store quant blocks.
const FormatLoads *findDequantLoads(std::string_view format);

}  // namespace talc
