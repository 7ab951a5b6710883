// SPDX-License-Identifier: Apache-2.0
// The row-wise ops that all targets share, and the functions that emit their loops, each in a file of its name. Loops
// are written in vectors, which are lanes of a register on CPUs and threads on GPUs. Targets have tables of further
// ops.
#pragma once

#include "compiler/passes/schedule/Emitter.h"
#include "dialects/kernel/gradients/GradientOps.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace talc {

void expandGather(Emitter &e, kernel::GatherOp op);
void expandNorm(Emitter &e, kernel::NormOp op);
void expandSoftmax(Emitter &e, kernel::SoftmaxOp op);
void expandQuantize(Emitter &e, kernel::QuantizeOp op);
void expandLogSoftmax(Emitter &e, kernel::LogSoftmaxOp op);
void expandJoin(Emitter &e, kernel::JoinOp op);
void expandRope(Emitter &e, kernel::RopeOp op);
void expandRoute(Emitter &e, kernel::RouteOp op);
void expandElementwise(Emitter &e, mlir::linalg::GenericOp op);
void expandCopy(Emitter &e, mlir::memref::CopyOp op);
void expandNormDgrad(Emitter &e, kernel::NormDgradOp op);        // Norm.cpp
void expandRopeDgrad(Emitter &e, kernel::RopeDgradOp op);        // Rope.cpp
void expandSoftmaxDgrad(Emitter &e, kernel::SoftmaxDgradOp op);  // GradientRows.cpp
void expandPlace(Emitter &e, kernel::PlaceOp op);                // GradientRows.cpp

// The name of an op, and the function that emits its loops.
struct RowWiseOp {
  llvm::StringLiteral name;
  void (*expand)(Emitter &e, mlir::Operation *op);
};

template <typename Op, void (*expand)(Emitter &, Op)> constexpr RowWiseOp rowWiseOp() {
  return {Op::getOperationName(), [](Emitter &e, mlir::Operation *op) { expand(e, mlir::cast<Op>(op)); }};
}

inline constexpr RowWiseOp rowWiseOps[] = {
    rowWiseOp<kernel::GatherOp, expandGather>(),
    rowWiseOp<kernel::NormOp, expandNorm>(),
    rowWiseOp<kernel::SoftmaxOp, expandSoftmax>(),
    rowWiseOp<kernel::RopeOp, expandRope>(),
    rowWiseOp<kernel::RouteOp, expandRoute>(),
    rowWiseOp<mlir::linalg::GenericOp, expandElementwise>(),
    rowWiseOp<mlir::memref::CopyOp, expandCopy>(),
    rowWiseOp<kernel::JoinOp, expandJoin>(),
    rowWiseOp<kernel::QuantizeOp, expandQuantize>(),
    rowWiseOp<kernel::LogSoftmaxOp, expandLogSoftmax>(),
    rowWiseOp<kernel::NormDgradOp, expandNormDgrad>(),
    rowWiseOp<kernel::RopeDgradOp, expandRopeDgrad>(),
    rowWiseOp<kernel::SoftmaxDgradOp, expandSoftmaxDgrad>(),
    rowWiseOp<kernel::PlaceOp, expandPlace>(),
};

// The entry for an operation; null if there is none.
inline const RowWiseOp *findRowWiseOp(llvm::ArrayRef<RowWiseOp> table, mlir::Operation *op) {
  const RowWiseOp *row =
      llvm::find_if(table, [&](const RowWiseOp &row) { return row.name == op->getName().getStringRef(); });
  return row == table.end() ? nullptr : row;
}

}  // namespace talc
