// SPDX-License-Identifier: Apache-2.0
// The pieces that treat each row by itself, and the functions that write their loops: each stands in a file of its
// name. They are written in vectors, whatever these are on a machine. Its own row pieces have a table there.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

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

// The name of a piece, and its loops.
struct RowPiece {
  llvm::StringLiteral name;
  void (*expand)(Emitter &e, mlir::Operation *op);
};

template <typename Op, void (*expand)(Emitter &, Op)> constexpr RowPiece rowPiece() {
  return {Op::getOperationName(), [](Emitter &e, mlir::Operation *op) { expand(e, mlir::cast<Op>(op)); }};
}

inline constexpr RowPiece rowPieces[] = {
    rowPiece<kernel::GatherOp, expandGather>(),     rowPiece<kernel::NormOp, expandNorm>(),
    rowPiece<kernel::SoftmaxOp, expandSoftmax>(),   rowPiece<kernel::RopeOp, expandRope>(),
    rowPiece<kernel::RouteOp, expandRoute>(),       rowPiece<mlir::linalg::GenericOp, expandElementwise>(),
    rowPiece<mlir::memref::CopyOp, expandCopy>(),   rowPiece<kernel::JoinOp, expandJoin>(),
    rowPiece<kernel::QuantizeOp, expandQuantize>(), rowPiece<kernel::LogSoftmaxOp, expandLogSoftmax>(),
};

// The row that an operation stands in; null: none.
inline const RowPiece *findPiece(llvm::ArrayRef<RowPiece> table, mlir::Operation *op) {
  const RowPiece *row =
      llvm::find_if(table, [&](const RowPiece &row) { return row.name == op->getName().getStringRef(); });
  return row == table.end() ? nullptr : row;
}

}  // namespace talc
