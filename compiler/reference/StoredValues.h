// SPDX-License-Identifier: Apache-2.0
// Rounds values to storage formats, and decodes them. It takes only the codes of a block's values from
// dialects/talc/formats; it decodes their bytes by itself.
#pragma once

#include "compiler/reference/Tensors.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/Types.h"
#include "llvm/ADT/StringRef.h"

#include <vector>

namespace talc::reference {

// Rounds the rows of a matrix to blocks. Errors count by the importance of columns, which lists them once for each of
// several parts of the rows, or alike if it is empty.
void roundRows(Weight &weight, const StorageFormat &format, llvm::ArrayRef<float> importance);

// Rounds every value to the element type of a weight: floats to the nearest, ties to even.
void roundValues(Weight &weight, mlir::Type element);

// The bytes of `count` values in a file, row-major.
uint64_t storedBytes(mlir::Type element, uint64_t count);

// Decodes such bytes.
void decodeValues(llvm::StringRef bytes, mlir::Type element, std::vector<float> &values);

// Whether values of a format are blocks that the interpreter knows.
bool knowsBlocks(llvm::StringRef format);
uint64_t blockBytes(llvm::StringRef format, uint64_t values);
// Blocks one after the other, as files have them.
void decodeBlocks(llvm::StringRef format, llvm::StringRef bytes, std::vector<float> &values);

}  // namespace talc::reference
