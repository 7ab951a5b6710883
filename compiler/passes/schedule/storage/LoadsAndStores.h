// SPDX-License-Identifier: Apache-2.0
// Loads values of any storage format as f32, and stores f32 in a storage format.
#pragma once

#include "compiler/passes/schedule/Emitter.h"
#include "compiler/passes/schedule/storage/BlockAddress.h"

namespace talc {

// Indices count values, as the shape of the buffer does. A null mask stands for all lanes; masked lanes are zero.
struct FormatLoads {
  mlir::Value (*vector)(Emitter &e, mlir::Value buffer, mlir::ValueRange at, mlir::Value mask);
  mlir::Value (*scalar)(Emitter &e, mlir::Value buffer, mlir::ValueRange at);
};

const FormatLoads &getLoads(mlir::Value buffer);

// A vector of neighboring lanes or, with one lane, of neighboring values.
mlir::Value dequantize(Emitter &e, const StorageFormat &format, const BlockAddress &place);
// One value.
mlir::Value dequantizeScalar(Emitter &e, const StorageFormat &format, const BlockAddress &place);

// The loads of a format; null if it does not store quant blocks.
const FormatLoads *findDequantLoads(std::string_view format);

// Converts f32, a scalar or a vector, to the float type of a buffer; other types are returned unchanged.
mlir::Value convertToElement(Emitter &e, mlir::Value value, mlir::Value buffer);

// Quantizes and stores a block of one lane; `values` are vectors of neighbors. For formats of KV caches.
void storeQuantBlock(Emitter &e, const StorageFormat &format, const BlockAddress &place, mlir::ValueRange values);

// The same in one thread, for which vectors are scalars: value(i) is the i-th of the block.
using ValueOf = llvm::function_ref<mlir::Value(mlir::Value)>;
void storeQuantBlockByThread(Emitter &e, const StorageFormat &format, const BlockAddress &place, ValueOf value);

}  // namespace talc
