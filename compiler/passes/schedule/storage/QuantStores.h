// SPDX-License-Identifier: Apache-2.0
// How kernels store f32 in a storage format, as its encode does.
#pragma once

#include "compiler/passes/schedule/storage/BlockAddress.h"

namespace talc {

// f32, a scalar or a vector, as numbers of the element type of a buffer; anything else stays as it is.
mlir::Value convertToElement(Emitter &e, mlir::Value value, mlir::Value buffer);

// One lane's block of `values`, vectors of neighbours. Of formats for states.
void storeQuantBlock(Emitter &e, const StorageFormat &format, const BlockAddress &place, mlir::ValueRange values);

// The same by one thread, for which vectors are scalars: value(i) is the block's i-th.
using ValueOf = llvm::function_ref<mlir::Value(mlir::Value)>;
void storeQuantBlockByThread(Emitter &e, const StorageFormat &format, const BlockAddress &place, ValueOf value);

}  // namespace talc
