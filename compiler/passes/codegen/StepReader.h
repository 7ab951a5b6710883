// SPDX-License-Identifier: Apache-2.0
// What the conversions of the running step to LLVM share, whatever a kernel receives of it.
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

  // A memref of the type around a pointer; `rows` is its first dimension, the only one that may be dynamic.
  Value buffer(mlir::MemRefType type, Value address, Value rows = {});
  // All bytes of a buffer.
  Value byteBuffer(kernel::BytesOp op);

  Value bytesFrom(Value base, Value offset);
  // The i32 there, as i64.
  Value integerAt(Value base, Value offset);
  // Where a weight or a state lies.
  int64_t offsetOf(mlir::FlatSymbolRefAttr symbol);
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

// A piece that is missing in the tables of stage schedule has nothing that could be converted.
llvm::LogicalResult checkComputeOps(mlir::ModuleOp module);
// LLVM knows no blocks: from here on buffers of them are buffers of bytes.
void convertBlockBuffers(mlir::ModuleOp module);

}  // namespace talc
