// SPDX-License-Identifier: Apache-2.0
// Activations that only matmuls by MMA read are stored in the type that these convert them to.
//
//   call @norm_0(..., %y)                %y : memref<?x768xf32>   ->   memref<?x768xbf16>
//   call @matmul_1(%step, %y, %w, ...)   %w : memref<..xbf16>
//
// Results have the same bits: values are converted once, where they are computed, and not by every reader. Buffers have
// half the size, and asynchronous copies to shared memory need no conversion.
//
// Which activations these are depends on more than one function, so narrow-activations marks arguments and buffers
// before functions are looked up in the cache. Types change in expand-workgroups, since the verifiers of compute ops
// expect f32.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace talc {

// The element type of a buffer once types have changed.
mlir::Type getNarrowedElementType(mlir::Value buffer);
// Changes the types of all that is marked, in functions without code, too.
void applyNarrowing(mlir::ModuleOp module);

}  // namespace talc
