// SPDX-License-Identifier: Apache-2.0
// Split precision: an f32 operand of MMAs as the sum of two 16-bit values, x = high + low (Ootomo and Yokota 2022). Two
// f16 have 22 significant bits, two bf16 have 16.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

namespace talc {

// Values are scaled below 2^15, so that the high part does not overflow f16 and the low part does not underflow.
constexpr int64_t scaleBits = 15;

// A power of two that scales values up to `largest` so, and its inverse.
std::pair<mlir::Value, mlir::Value> scalesForSplit(WorkgroupEmitter &e, mlir::Value largest);

// Splits the four values that a thread has of each of the rows g and g + 8 of A: the high parts, then the low parts, in
// the order of fragment A.
std::pair<Emitter::Values, Emitter::Values> splitFragmentA(WorkgroupEmitter &e, llvm::ArrayRef<mlir::Value> upperRow,
                                                           llvm::ArrayRef<mlir::Value> lowerRow, mlir::Type type);

mlir::Value packVector(WorkgroupEmitter &e, llvm::ArrayRef<mlir::Value> values);
// A fragment from a vector of its pairs, and fragment B from element `index` of four vectors.
mlir::Value makeFragment(WorkgroupEmitter &e, mlir::Value pairs);
mlir::Value makeFragment(WorkgroupEmitter &e, llvm::ArrayRef<mlir::Value> vectors, int64_t index);

}  // namespace talc
