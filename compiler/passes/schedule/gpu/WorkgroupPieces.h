// SPDX-License-Identifier: Apache-2.0
// The pieces whose loops are a workgroup's own, and the functions that write them: each stands in a file of its name.
// Others are those of rows/RowPieces.h.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

namespace talc {

// Threads for a piece whose rows have so many columns, when each thread takes one at a time.
int64_t threadsFor(int64_t columns);

// A function of an expansion: the threads of a workgroup, and what one does of the piece in its task.
template <typename Op> struct WorkgroupPiece {
  int64_t (*threads)(Op op);
  void (*expand)(WorkgroupEmitter &e, Op op);
};

int64_t threadsOfContract(kernel::ContractOp op);
void expandContract(WorkgroupEmitter &e, kernel::ContractOp op);
int64_t threadsOfExperts(kernel::ExpertsOp op);
void expandExperts(WorkgroupEmitter &e, kernel::ExpertsOp op);
int64_t threadsOfAttention(kernel::AttentionOp op);
void expandAttention(WorkgroupEmitter &e, kernel::AttentionOp op);
int64_t threadsOfCombine(kernel::CombineOp op);
void expandCombine(WorkgroupEmitter &e, kernel::CombineOp op);
int64_t threadsOfAppend(kernel::AppendOp op);
void expandAppend(WorkgroupEmitter &e, kernel::AppendOp op);

// Says how large a piece is and how large a task should be, in front of its tasks.
void setExtents(WorkgroupEmitter &e, mlir::Operation *piece, llvm::function_ref<Emitter::Values()> extents,
                llvm::ArrayRef<int64_t> grain = {});

}  // namespace talc
