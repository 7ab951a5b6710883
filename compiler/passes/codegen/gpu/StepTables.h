// SPDX-License-Identifier: Apache-2.0
// What kernels for GPUs read of the running step: where it stands in StepTables (runtime/device/gpu/LaunchTable.h),
// whatever an address is.
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
  // The word at byte `field` of element `at`, of `size` bytes, of the array whose place is the word at `array`.
  virtual Value element(Value step, int64_t array, Value at, int64_t size, int64_t field) = 0;
  // `offset`: of the part in the state of a slot.
  virtual Value statePart(mlir::MemRefType type, Value state, Value slot, int64_t offset) = 0;
  // All bytes of a buffer.
  virtual Value byteBuffer(kernel::BytesOp op) = 0;
};

// The values that stand for the results of a step op; none: kernels have no such op.
llvm::SmallVector<mlir::Value> readTables(TableReader &reader, mlir::Operation *op);

// Replaces all ops of the kernel dialect: replace(op) yields what stands for their results. Says what it cannot
// convert, and fills in how many there were.
llvm::LogicalResult replaceStepOps(mlir::ModuleOp module, int64_t &count,
                                   llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Operation *)> replace);

}  // namespace talc
