// SPDX-License-Identifier: Apache-2.0
// The instructions that processors have for dot products of bytes, and for tables of bytes.
#pragma once

#include "dialects/kernel/ByteOps.h"

namespace talc {

// The sums of a dot product, made in front of it; null: there are no instructions for so many sums, or such levels.
using EmitDot = mlir::Value (*)(kernel::DotOp dot);

mlir::Value dotByBytes(kernel::DotOp dot);     // AVX2, AVX-512: vpmaddubsw and vpmaddwd
mlir::Value dotByVnni(kernel::DotOp dot);      // vpdpbusd
mlir::Value dotByNeon(kernel::DotOp dot);      // smull and sadalp
mlir::Value dotByNeonDots(kernel::DotOp dot);  // sdot

// The bytes of a table, likewise.
using EmitLookUp = mlir::Value (*)(kernel::LookUpOp op);

mlir::Value lookUpByShuffle(kernel::LookUpOp op);  // vpshufb
mlir::Value lookUpByNeon(kernel::LookUpOp op);     // tbl

}  // namespace talc
