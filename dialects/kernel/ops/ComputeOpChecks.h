// SPDX-License-Identifier: Apache-2.0
// Checks of verifiers of compute ops. Each one reports at `op` what it found and what it expected.
#pragma once

#include "dialects/kernel/ops/ComputeOpSizes.h"

namespace talc::kernel {

// Reports "<what> is <actual>, expected <expected>" if they differ.
mlir::LogicalResult expect(mlir::Operation *op, llvm::StringRef what, int64_t actual, int64_t expected);
mlir::LogicalResult expectNatural(mlir::Operation *op, llvm::StringRef what, int64_t actual);

// [tokens, features] of f32; kernels load vectors of neighboring features.
mlir::LogicalResult expectActivations(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
// The same for quantized activations (talc.quantize).
mlir::LogicalResult expectQuantized(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
// Either of them.
mlir::LogicalResult expectMatmulInput(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
mlir::LogicalResult expectOneRow(mlir::Operation *op, llvm::StringRef what, mlir::Value data);
// The number of rows is that of `like`, if both are known.
mlir::LogicalResult expectRows(mlir::Operation *op, llvm::StringRef what, mlir::Value data, mlir::Value like);
// x and init have the same number of rows and features.
mlir::LogicalResult expectSameShape(mlir::Operation *op, mlir::Value x, mlir::Value init);
mlir::LogicalResult expectDivides(mlir::Operation *op, llvm::StringRef what, int64_t parts, int64_t width);

// Values of a storage format, of known size.
mlir::LogicalResult expectStored(mlir::Operation *op, llvm::StringRef what, mlir::Value data, int64_t rank);
mlir::LogicalResult expectVector(mlir::Operation *op, llvm::StringRef what, mlir::Value data, int64_t length);
// A packed weight.
mlir::LogicalResult expectPanels(mlir::Operation *op, llvm::StringRef what, mlir::Value weight);

// A KV cache whose memory is used by an op on buffers has a layout.
mlir::LogicalResult expectLayout(mlir::Operation *op, KvCacheType cache, mlir::Value data);
// A key block of split attention, a multiple of `tokens`, and the partial results (PartialAttentionLayout).
mlir::LogicalResult expectBlock(mlir::Operation *op, int64_t block, int64_t tokens);
mlir::LogicalResult expectPartialAttention(mlir::Operation *op, llvm::StringRef what, mlir::Value partials,
                                           int64_t heads, int64_t width);

}  // namespace talc::kernel
