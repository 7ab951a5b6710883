// SPDX-License-Identifier: Apache-2.0
// What GPU kernels read of the running step: its offsets in StepTables (runtime/device/gpu/LaunchTable.h). Subclasses
// know what an address is.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace talc {

// Builds the loads for one op. Results are indices and buffers.
class TableReader {
public:
  using Value = mlir::Value;

  virtual ~TableReader() = default;

  // The word at byte `field` of the tables.
  virtual Value count(Value step, int64_t field) = 0;
  // The word at byte `field` of element `at`, of `size` bytes, of the array whose offset is the word at `array`.
  virtual Value element(Value step, int64_t array, Value at, int64_t size, int64_t field) = 0;
  // `offset`: of the part in the state of a slot.
  virtual Value statePart(mlir::MemRefType type, Value state, Value slot, int64_t offset) = 0;
  // A buffer as bytes.
  virtual Value byteBuffer(kernel::BytesOp op) = 0;
};

// The values that replace the results of a step op; none: kernels do not have this op.
llvm::SmallVector<mlir::Value> readTables(TableReader &reader, mlir::Operation *op);

// Replaces the results of all ops of the kernel dialect by what replace(op) returns. Emits an error for ops that it
// cannot convert, and counts the others.
llvm::LogicalResult replaceStepOps(mlir::ModuleOp module, int64_t &count,
                                   llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Operation *)> replace);

}  // namespace talc
