// SPDX-License-Identifier: Apache-2.0
// What storage formats do to values, element by element. Of dialects/talc/formats it takes only which levels the values
// of a block get; what their bytes mean it knows by itself.
#pragma once

#include "compiler/reference/Tensors.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

namespace talc::reference {

// Rounds the rows of a matrix to blocks; errors count by the importance of columns, one after the other for each of
// several parts of its rows, or alike if there is none.
void roundRows(Weight &weight, const StorageFormat &format, llvm::ArrayRef<float> importance);

// Rounds every value to what `element`, the element type of a weight, stores of it; of numbers the nearest, ties to
// even.
void roundValues(Weight &weight, mlir::Type element);

// The bytes of `count` values in a file, row-major.
uint64_t storedBytes(mlir::Type element, uint64_t count);

// The values of such bytes.
void decodeValues(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values);

}  // namespace talc::reference
