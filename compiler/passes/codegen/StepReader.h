// SPDX-License-Identifier: Apache-2.0
// Reads of the running step that the conversions to LLVM share, for CPUs and GPUs.
#pragma once

#include "dialects/kernel/KernelDialect.h"

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/BuiltinOps.h"

namespace talc {

// Builds the loads for one op.
class StepReader {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;

  StepReader(mlir::Operation *op, mlir::ModuleOp module)
      : b(op), loc(op->getLoc()), module(module), converter(op->getContext()) {}

  // A memref of the type for a pointer; `rows` is its first dimension, the only one that may be dynamic.
  Value buffer(mlir::MemRefType type, Value address, Value rows = {});
  // The bytes of a buffer of quant blocks (kernel.bytes).
  Value byteBuffer(kernel::BytesOp op);

  Value bytesFrom(Value base, Value offset);
  // The i32 at an offset, as i64.
  Value integerAt(Value base, Value offset);
  // The offset of a weight or KV cache.
  int64_t getOffset(mlir::FlatSymbolRefAttr symbol);
  // The bytes of the weights that the artifact has; tables lie behind them.
  int64_t storedWeightBytes();
  int64_t slotBytes();

  Type pointer();
  Value constant(int64_t value);
  Value add(Value x, Value y);
  Value mul(Value x, Value y);
  Value toIndex(Value i64);
  Value toI64(Value index);
  Value cast(Value value, Type type);

  mlir::OpBuilder b;
  mlir::Location loc;

private:
  mlir::ModuleOp module;
  mlir::LLVMTypeConverter converter;
};

// Reports compute ops that stage schedule has not expanded.
llvm::LogicalResult checkComputeOps(mlir::ModuleOp module);
// LLVM does not have quant blocks: buffers of them become buffers of bytes.
void convertBlockBuffers(mlir::ModuleOp module);

}  // namespace talc
