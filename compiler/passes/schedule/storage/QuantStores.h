// SPDX-License-Identifier: Apache-2.0
// Stores of f32 in a storage format, with the results of its encode function.
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"

namespace talc {

// Converts f32, a scalar or a vector, to the float type of a buffer; other types are returned unchanged.
mlir::Value convertToElement(Emitter &e, mlir::Value value, mlir::Value buffer);

// Quantizes and stores a block of one lane; `values` are vectors of neighbors. For formats of KV caches.
void storeQuantBlock(Emitter &e, const StorageFormat &format, const BlockAddress &place, mlir::ValueRange values);

// The same in one thread, for which vectors are scalars: value(i) is the i-th of the block.
using ValueOf = llvm::function_ref<mlir::Value(mlir::Value)>;
void storeQuantBlockByThread(Emitter &e, const StorageFormat &format, const BlockAddress &place, ValueOf value);

}  // namespace talc
