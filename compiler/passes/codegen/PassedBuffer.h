// SPDX-License-Identifier: Apache-2.0
// How a buffer is passed: its address, and the sizes, strides and offset that its type does not tell.
#pragma once

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace talc {

// Null for what is passed as upstream does: a layout without strides, another memory space.
mlir::MemRefType bufferType(mlir::Type type);

class PassedBuffer {
public:
  // One of the values that are passed, in their order; known ones are left out.
  enum class Field { address, offset, size, stride };
  struct Part {
    Field field;
    unsigned dimension;  // of a size or a stride
  };

  explicit PassedBuffer(mlir::MemRefType type);

  llvm::SmallVector<Part> parts() const;
  llvm::SmallVector<mlir::Type> types() const;
  // The values to pass of `buffer`.
  llvm::SmallVector<mlir::Value> take(mlir::OpBuilder &b, mlir::Location loc, mlir::Value buffer,
                                      mlir::LLVMTypeConverter &converter) const;
  // The buffer that `values` were taken of.
  mlir::Value build(mlir::OpBuilder &b, mlir::Location loc, llvm::ArrayRef<mlir::Value> values,
                    mlir::LLVMTypeConverter &converter) const;

private:
  mlir::MemRefType type;
  llvm::SmallVector<int64_t> strides;
  int64_t offset;
};

}  // namespace talc
