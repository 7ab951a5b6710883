// SPDX-License-Identifier: Apache-2.0
// What verifiers of pieces ask for. Each check says at `op` what it found instead, beside what it expected.
#pragma once

#include "dialects/kernel/ops/ComputeOpSizes.h"

namespace talc::kernel {

// "<what> is <found>, expected <expected>"
mlir::LogicalResult expect(mlir::Operation *op, llvm::StringRef what, int64_t found, int64_t expected);
mlir::LogicalResult expectNatural(mlir::Operation *op, llvm::StringRef what, int64_t found);

// [rows, features] of f32; vectors are read from neighbouring features.
mlir::LogicalResult expectActivations(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
// The same of activations that talc.quantize rounded.
mlir::LogicalResult expectQuantized(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
// One or the other.
mlir::LogicalResult expectMatmulInput(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
mlir::LogicalResult expectOneRow(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
// As many rows as `like`, where both are known.
mlir::LogicalResult expectRows(mlir::Operation *op, llvm::StringRef what, mlir::Value data, mlir::Value like);
// x and the init of a piece that keeps rows and features.
mlir::LogicalResult expectSameShape(mlir::Operation *op, mlir::Value x, mlir::Value init);
mlir::LogicalResult expectDivides(mlir::Operation *op, llvm::StringRef what, int64_t parts, int64_t width);

// Values that are stored: of known size, and of a type that can be.
mlir::LogicalResult expectStored(mlir::Operation *op, llvm::StringRef what, mlir::Value data, int64_t rank);
mlir::LogicalResult expectVector(mlir::Operation *op, llvm::StringRef what, mlir::Value data, int64_t length);
// A packed weight.
mlir::LogicalResult expectPanels(mlir::Operation *op, llvm::StringRef what, mlir::Value weight);

// On buffers, when passes work on the memory of the state.
mlir::LogicalResult expectLayout(mlir::Operation *op, KvCacheType state, mlir::Value data);
// A block of keys, whole groups of so many tokens, that a single row's attention leaves parts of
// (PartialAttentionLayout), and these.
mlir::LogicalResult expectBlock(mlir::Operation *op, int64_t block, int64_t tokens);
mlir::LogicalResult expectPartialAttention(mlir::Operation *op, llvm::StringRef what, mlir::Value parts, int64_t heads,
                                           int64_t width);

}  // namespace talc::kernel
