// SPDX-License-Identifier: Apache-2.0
// Factors of matrix instructions (m16n8k16) that are made of f32: every number becomes two of 16 bits, x = high + low.
// Of f16 both together have 22 binary digits, of bf16 16.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

namespace talc {

// Numbers are scaled to less than two to the power of this, so that neither the higher one is too large for f16 nor the
// lower one too small.
constexpr int64_t factorBits = 15;

// A power of two that makes numbers up to `largest` so small, and its inverse.
std::pair<mlir::Value, mlir::Value> powersOf(WorkgroupEmitter &e, mlir::Value largest);

// Of numbers that the rows g and g + 8 have at the four places of a thread: the higher numbers, then the lower ones, in
// the order of a fragment A.
std::pair<Emitter::Values, Emitter::Values> factorsOf(WorkgroupEmitter &e, llvm::ArrayRef<mlir::Value> upper,
                                                      llvm::ArrayRef<mlir::Value> lower, mlir::Type type);

mlir::Value together(WorkgroupEmitter &e, llvm::ArrayRef<mlir::Value> numbers);
// A fragment of neighbouring pairs; fragment B of what four lines have at a place.
mlir::Value fragmentOf(WorkgroupEmitter &e, mlir::Value pairs);
mlir::Value fragmentOf(WorkgroupEmitter &e, llvm::ArrayRef<mlir::Value> lines, int64_t place);

}  // namespace talc
