// SPDX-License-Identifier: Apache-2.0
// The values that a buffer is passed as: its address, and its dynamic sizes, strides and offset.
#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace talc {

// Null for types that are passed as upstream does: layouts without strides, other memory spaces.
mlir::MemRefType bufferType(mlir::Type type);

class PassedBuffer {
public:
  // One of the values that are passed, in this order; static ones are omitted.
  enum class Field { address, offset, size, stride };
  struct Part {
    Field field;
    unsigned dimension;  // of a size or a stride
  };

  explicit PassedBuffer(mlir::MemRefType type);

  llvm::SmallVector<Part> parts() const;
  llvm::SmallVector<mlir::Type> types() const;
  // The values that are passed for `buffer`.
  llvm::SmallVector<mlir::Value> take(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer,
                                      mlir::LLVMTypeConverter &converter) const;
  // The buffer that `values` were passed for.
  mlir::Value build(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> values,
                    mlir::LLVMTypeConverter &converter) const;

private:
  mlir::MemRefType type;
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
};

}  // namespace talc
