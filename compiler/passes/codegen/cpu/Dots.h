// SPDX-License-Identifier: Apache-2.0
// The instructions that processors have for dot products of bytes, and for tables of bytes.
#pragma once

#include "dialects/kernel/ByteOps.h"

namespace talc {

// The sums of dot products, each of which adds to the one before, made in front of the last of them; null: there are no
// instructions for so many sums, or such levels.
using EmitDots = mlir::Value (*)(llvm::ArrayRef<kernel::DotOp> dots);

// AVX2, AVX-512: vpmaddubsw and vpmaddwd; of so many dot products words are added before they become sums.
mlir::Value dotsByBytes(llvm::ArrayRef<kernel::DotOp> dots);
int64_t dotsTogether(kernel::DotOp dot);

// Of one dot product.
mlir::Value dotByVnni(llvm::ArrayRef<kernel::DotOp> dots);      // vpdpbusd
mlir::Value dotByNeon(llvm::ArrayRef<kernel::DotOp> dots);      // smull and sadalp
mlir::Value dotByNeonDots(llvm::ArrayRef<kernel::DotOp> dots);  // sdot
inline int64_t dotAlone(kernel::DotOp) {
  return 1;
}

// The bytes of a table, likewise.
using EmitLookUp = mlir::Value (*)(kernel::TableLookupOp op);

mlir::Value lookUpByShuffle(kernel::TableLookupOp op);  // vpshufb
mlir::Value lookUpByNeon(kernel::TableLookupOp op);     // tbl

}  // namespace talc
