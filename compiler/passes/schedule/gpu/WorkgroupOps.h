// SPDX-License-Identifier: Apache-2.0
// The pieces whose loops are a workgroup's own, and the functions that write them: each stands in a file of its name.
// Others are those of rows/RowWiseOps.h.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace talc {

// Threads for a piece whose rows have so many columns, when each thread takes one at a time.
int64_t threadsFor(int64_t columns);
// For one whose columns lie in panels: whole panels, up to `most` threads or one panel.
int64_t threadsForPanels(int64_t panels, int64_t threadsOfPanel, int64_t most = 128);

// For each piece the threads of a workgroup, what one does of the piece in its task, and, where tasks have tiles, how
// they are cut, for readers.
int64_t threadsOfContract(kernel::MatmulOp op);
void expandContract(WorkgroupEmitter &e, kernel::MatmulOp op);
std::string tileOfContract(kernel::MatmulOp op);
// The same by matrix instructions, unless something speaks against them.
std::string obstacleToMatrices(kernel::MatmulOp op);
int64_t threadsOfMatrices(kernel::MatmulOp op);
void expandByMatrices(WorkgroupEmitter &e, kernel::MatmulOp op);
std::string tileByMatrices(kernel::MatmulOp op);
int64_t threadsOfExperts(kernel::ExpertsOp op);
void expandExperts(WorkgroupEmitter &e, kernel::ExpertsOp op);
int64_t threadsOfAttention(kernel::AttentionOp op);
void expandAttention(WorkgroupEmitter &e, kernel::AttentionOp op);
std::string tileOfAttention(kernel::AttentionOp op);
std::string obstacleToMatrices(kernel::AttentionOp op);
int64_t threadsOfMatrices(kernel::AttentionOp op);
void expandByMatrices(WorkgroupEmitter &e, kernel::AttentionOp op);
std::string tileByMatrices(kernel::AttentionOp op);
int64_t threadsOfCombine(kernel::CombineOp op);
void expandCombine(WorkgroupEmitter &e, kernel::CombineOp op);
int64_t threadsOfRow(mlir::linalg::GenericOp op);
void expandRow(WorkgroupEmitter &e, mlir::linalg::GenericOp op);
// Whether it is one for these two.
bool isSingleRow(mlir::linalg::GenericOp op);
int64_t threadsOfAppend(kernel::KvAppendOp op);
void expandAppend(WorkgroupEmitter &e, kernel::KvAppendOp op);
int64_t threadsOfQuantize(kernel::QuantizeOp op);
void quantizeByThreads(WorkgroupEmitter &e, kernel::QuantizeOp op);

// Says how large a piece is and how large a task should be, in front of its tasks.
void setExtents(WorkgroupEmitter &e, mlir::Operation *piece, llvm::function_ref<Emitter::Values()> extents,
                llvm::ArrayRef<int64_t> grain = {});

}  // namespace talc
