// SPDX-License-Identifier: Apache-2.0
// How a contraction is cut into instructions of matrices (m16n8k16): follows from shapes alone.
#pragma once

#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"

#include <algorithm>
#include <string>

namespace talc {

struct MmaPlan : PanelShape {
  static constexpr int64_t subgroup = 32, tileRows = 16, tileColumns = 8, tileDepth = 16;

  explicit MmaPlan(kernel::MatmulOp op);

  int64_t perThread() const { return columns / tileColumns; }  // neighbouring lanes that a thread loads
  int64_t rows() const { return tiles * tileRows; }
  int64_t instructions() const { return taskPanels * parts * perThread(); }  // of a tile
  // Whether sums, four of an instruction, take half of the registers that a thread may have.
  bool sumsTakeHalf() const { return 2 * 4 * tiles * instructions() > 255; }
  // Numbers of a row of sums in shared memory, some of them unused: threads that store neighbouring rows meet other
  // banks.
  int64_t line() const;
  // What a thread loads for a step: the vectors of k, k + 1, k + 8, k + 9 of a panel, of each half with gates.
  struct VectorPlace {
    int64_t panel, distance;  // of the task; in the panel, from where the thread has its first
  };
  int64_t vectorsOfStep() const { return 4 * taskPanels * parts; }
  VectorPlace placeInStep(int64_t number) const;
  // Numbers of the weight in a stage.
  int64_t stagedWeights() const { return weightsInStages ? taskPanels * lanes * tileDepth : 0; }
  // Bytes of shared memory: for rows or weights, while they are multiplied, then for what half of the parts leave for
  // the others, or for all sums.
  int64_t stagedBytes() const { return kParts * stages * (rows() * tileDepth + stagedWeights()) * 2; }
  int64_t sharedValues() const;
  int64_t sharedBytes() const { return std::max(stagedBytes(), 4 * sharedValues()); }
  // For readers: 32 rows x 128 columns ...
  std::string text() const;

  mlir::Type element;
  int64_t tiles, taskPanels;     // of a task
  int64_t kParts, partDepth;     // of a task, each a subgroup's
  bool oneRow, alone;            // a task has one part of the only row
  int64_t stages = 0;            // of rows in shared memory; none: threads load what they need from memory
  bool weightsInStages = false;  // beside the only row, which waits for them
};

// Bytes of shared memory as values of a type, from byte `begin` on.
mlir::Value viewOf(WorkgroupEmitter &e, mlir::Value bytes, llvm::ArrayRef<int64_t> shape, mlir::Type element,
                   int64_t begin = 0);

}  // namespace talc
