// SPDX-License-Identifier: Apache-2.0
// The compute ops that have loops of their own on GPUs. Each of these functions is defined in the file of its op; all
// other ops are row-wise (rows/RowWiseOps.h).
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <string>

namespace talc {

// Threads of a workgroup that takes rows with so many columns, where each thread takes one column at a time.
int64_t threadsForColumns(int64_t columns);
// Threads of a workgroup that takes panels: complete panels, up to `maxThreads` threads or one panel.
int64_t threadsForPanels(int64_t panels, int64_t panelThreads, int64_t maxThreads = 128);

// For each op: the threads of a workgroup, the code of a thread, and, where there are tiles, their shape for listings
// and their plan, of which some parameters are given: `problem` says what is wrong with them.
//
// By fused multiply-adds, on every GPU:
int64_t fmaThreads(kernel::MatmulOp op, const GpuFacts &gpu);
void expandByFma(WorkgroupEmitter &e, kernel::MatmulOp op);
std::string describeFmaTile(kernel::MatmulOp op, const GpuFacts &gpu);
kernel::PlanAttr planByFma(kernel::MatmulOp op, const GpuFacts &gpu, kernel::PlanAttr given, std::string &problem);
int64_t fmaThreads(kernel::AttentionOp op, const GpuFacts &gpu);
void expandByFma(WorkgroupEmitter &e, kernel::AttentionOp op);
std::string describeFmaTile(kernel::AttentionOp op, const GpuFacts &gpu);
kernel::PlanAttr planByFma(kernel::AttentionOp op, const GpuFacts &gpu, kernel::PlanAttr given, std::string &problem);

// By MMA, unless there is an obstacle:
std::string findMmaObstacle(kernel::MatmulOp op, const MmaAtom &mma);
int64_t mmaThreads(kernel::MatmulOp op, const GpuFacts &gpu);
void expandByMma(WorkgroupEmitter &e, kernel::MatmulOp op);
std::string describeMmaTile(kernel::MatmulOp op, const GpuFacts &gpu);
kernel::PlanAttr planByMma(kernel::MatmulOp op, const GpuFacts &gpu, kernel::PlanAttr given, std::string &problem);
std::string findMmaObstacle(kernel::AttentionOp op, const MmaAtom &mma);
int64_t mmaThreads(kernel::AttentionOp op, const GpuFacts &gpu);
void expandByMma(WorkgroupEmitter &e, kernel::AttentionOp op);
std::string describeMmaTile(kernel::AttentionOp op, const GpuFacts &gpu);
kernel::PlanAttr planByMma(kernel::AttentionOp op, const GpuFacts &gpu, kernel::PlanAttr given, std::string &problem);

// The plan of an op by MMA, or else by fused multiply-adds; null: the op has no tuning parameters.
kernel::PlanAttr planWorkgroups(mlir::Operation *computeOp, const GpuFacts &gpu, kernel::PlanAttr given,
                                std::string &problem);

int64_t moeThreads(kernel::ExpertsOp op);
void expandMoe(WorkgroupEmitter &e, kernel::ExpertsOp op);
int64_t combineThreads(kernel::CombineOp op);
void expandCombine(WorkgroupEmitter &e, kernel::CombineOp op);
int64_t kvAppendThreads(kernel::KvAppendOp op);
void expandKvAppend(WorkgroupEmitter &e, kernel::KvAppendOp op);
int64_t quantizeThreads(kernel::QuantizeOp op);
void expandQuantize(WorkgroupEmitter &e, kernel::QuantizeOp op);
// An elementwise op of one row, whose columns workgroups share.
bool hasSingleRow(mlir::linalg::GenericOp op);
int64_t singleRowThreads(mlir::linalg::GenericOp op);
void expandSingleRow(WorkgroupEmitter &e, mlir::linalg::GenericOp op);

// Whether a matmul is computed by MMA.
bool usesMma(kernel::MatmulOp op, const GpuFacts &gpu);

// Sets the extents of an op and the size of a task, in front of its tasks.
void setExtents(WorkgroupEmitter &e, mlir::Operation *computeOp, llvm::function_ref<Emitter::Values()> extents,
                llvm::ArrayRef<int64_t> grain = {});

}  // namespace talc
