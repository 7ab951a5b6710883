// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes and table lookups in instructions of CPUs.
#pragma once

#include "dialects/kernel/ByteOps.h"

namespace talc {

// The result of dot products that each add to the one before, inserted before the last of them. Null if there are no
// instructions for this number of sums or range of codes.
using EmitDots = mlir::Value (*)(llvm::ArrayRef<kernel::DotOp> dots);

// AVX2, AVX-512: vpmaddubsw and vpmaddwd; several dot products are added as i16 before they are converted to i32.
mlir::Value dotsByBytes(llvm::ArrayRef<kernel::DotOp> dots);
int64_t dotsTogether(kernel::DotOp dot);

// For a single dot product.
mlir::Value dotByVnni(llvm::ArrayRef<kernel::DotOp> dots);      // vpdpbusd
mlir::Value dotByNeon(llvm::ArrayRef<kernel::DotOp> dots);      // smull and sadalp
mlir::Value dotByNeonDots(llvm::ArrayRef<kernel::DotOp> dots);  // sdot
inline int64_t dotAlone(kernel::DotOp) {
  return 1;
}

// Table lookups, likewise.
using EmitLookUp = mlir::Value (*)(kernel::TableLookupOp op);

mlir::Value lookUpByShuffle(kernel::TableLookupOp op);  // vpshufb
mlir::Value lookUpByNeon(kernel::TableLookupOp op);     // tbl

}  // namespace talc
