// SPDX-License-Identifier: Apache-2.0
// The plan of a matmul by MMA: the sizes of a task, split-K, and the use of shared memory. Its tuning parameters are
// those of MmaTunables.
#pragma once

#include "compiler/passes/schedule/gpu/Tunables.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"

#include <algorithm>
#include <string>

namespace talc {

struct MmaPlan : PanelShape {
  // The plan of an op in tasks, whose plan may be incomplete.
  static MmaPlan create(kernel::MatmulOp op, const GpuFacts &gpu);
  // The plan of an op with the parameters of `given`, which may be null; the cost model chooses the others. `problem`
  // says what is wrong with a parameter, or is empty.
  MmaPlan(kernel::MatmulOp op, const GpuFacts &gpu, kernel::PlanAttr given, std::string &problem);

  const MmaAtom &mma;
  const MmaAtom::Shape atom;
  const int64_t warp;  // threads that execute an instruction

  int64_t vectorWidth() const { return columns / atom.n; }  // neighboring lanes that a thread loads at once
  int64_t rows() const { return tiles * atom.m; }
  int64_t tileInstructions() const { return taskPanels * parts * vectorWidth(); }
  // Whether accumulators, four of an instruction, take half of a thread's registers.
  bool accumulatorsTakeHalf() const { return 2 * accumulatorValues() > maxRegisters; }
  // Columns of a row of sums in shared memory. Some are padding, so that threads that store neighboring rows use other
  // banks.
  int64_t paddedColumns() const;
  // Vectors that a thread loads for a k-step: at k, k + 1, k + 8, k + 9 of each panel, and of gate and up.
  struct VectorOffset {
    int64_t panel, elements;  // panel of the task; distance from the thread's first element in the panel
  };
  int64_t vectorsOfStep() const { return 4 * taskPanels * parts; }
  VectorOffset vectorOffset(int64_t index) const;
  // Values of B in a stage.
  int64_t stagedB() const { return stagesB ? taskPanels * lanes * atom.k : 0; }
  // Bytes of shared memory: for the stages of A and B, then for the sums of half of the split-K parts, or for all sums.
  int64_t stagedBytes() const { return kParts * stages * (rows() * atom.k + stagedB()) * 2; }
  int64_t sharedSums() const;
  int64_t sharedBytes() const { return std::max(stagedBytes(), 4 * sharedSums()); }
  // For listings: 32 rows x 128 columns ...
  std::string describe() const;

  mlir::Type element;
  MmaTunables tunables;
  OccupancyTunables occupancy;
  int64_t tiles = 0, taskPanels = 0;  // of a task
  int64_t kParts, partDepth;          // split-K: parts in a task, each done by a warp; K of a part
  bool hasOneRow, isOnePart;          // isOnePart: a task has one part of the only row
  int64_t stages = 0;                 // of the multi-stage buffer for A; 0: threads load A from global memory
  bool stagesB = false;               // B goes through the multi-stage buffer, too

private:
  void chooseTunables(const GpuFacts &gpu);
  void applyTunables();
  std::string findContradiction(const GpuFacts &gpu) const;
  // Values of an accumulator that a thread has.
  int64_t accumulatorValues() const { return 4 * tiles * tileInstructions(); }

  const int64_t maxRegisters;
  bool canCopyA, canCopyB;  // asynchronously to shared memory
};

// A part of a buffer of bytes in shared memory as values of a type, from byte `begin` on.
mlir::Value viewBytes(WorkgroupEmitter &e, mlir::Value bytes, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                      int64_t begin = 0);

}  // namespace talc
