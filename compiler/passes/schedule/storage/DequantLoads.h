// SPDX-License-Identifier: Apache-2.0
// How kernels load values that are stored in blocks.
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"
#include "compiler/passes/schedule/storage/Loads.h"

namespace talc {

// A vector of neighbouring lanes or, of one lane, of neighbouring values.
mlir::Value dequantize(Emitter &e, const StorageFormat &format, const BlockAddress &place);
// One value.
mlir::Value dequantizeScalar(Emitter &e, const StorageFormat &format, const BlockAddress &place);

// Of the format of this name; null if it stores no blocks.
const FormatLoads *findDequantLoads(std::string_view format);

}  // namespace talc
