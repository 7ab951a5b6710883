// SPDX-License-Identifier: Apache-2.0
// Rows that nothing but contractions by matrix instructions reads are stored as these round them.
//
//   call @norm_0(..., %y)                  %y : memref<?x768xf32>   ->   memref<?x768xbf16>
//   call @matmul_1(%step, %y, %w, ...)   %w : memref<..xbf16>
//
// The bits are the same: rows are rounded where they are made, once, and not by everyone who reads them. They are half
// as long, and copies to shared memory need nothing of the threads.
//
// Which rows these are depends on more than a function, so it is noted on arguments and on buffers (kernel.narrowed)
// before anybody asks what a function's code depends on. Types follow when pieces are expanded, whose verifiers know
// f32.
#pragma once

#include "mlir/IR/BuiltinOps.h"

namespace talc {

// Types become what the notes say, those of functions without code, too.
void applyNarrowing(mlir::ModuleOp module);

}  // namespace talc
