// SPDX-License-Identifier: Apache-2.0
// The structs that describe buffers to Halide's functions: halide_buffer_t of HalideRuntime.h (Halide 14), which is 7
// words of 8 bytes, followed by two words for every dimension.
//
//   word  0  1     2        3               4                  5         6
//         0, 0, address, flags 0, type 0 | dimensions << 32, their address, 0     min 0 | extent << 32, stride ...
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class HalideBuffers {
public:
  // Allocates structs on the stack, for buffers of so many dimensions, and writes what is constant, before all loops.
  HalideBuffers(Emitter &e, llvm::ArrayRef<int64_t> ranks);

  // In elements; the outermost dimension comes first.
  struct Layout {
    Emitter::Values strides;
    mlir::Value offset;
  };
  static Layout getLayout(Emitter &e, mlir::TypedValue<mlir::MemRefType> memory);

  // In elements; the innermost dimension comes first.
  struct Dimension {
    mlir::Value extent, stride;
  };
  // Describes the part of a buffer that begins at an element; returns the struct's address, of type index.
  mlir::Value fill(size_t index, mlir::TypedValue<mlir::MemRefType> memory, mlir::ValueRange begin,
                   llvm::ArrayRef<Dimension> dimensions);
  // The same in two steps: all but the address, which can be written before loops; and the address.
  void describe(size_t index, llvm::ArrayRef<Dimension> dimensions);
  mlir::Value setAddress(size_t index, mlir::TypedValue<mlir::MemRefType> memory, mlir::ValueRange begin);

private:
  void writeHeader(int64_t first, int64_t rank);
  mlir::Value elementAddress(mlir::TypedValue<mlir::MemRefType> memory, mlir::ValueRange at);
  void store(mlir::Value value, int64_t word);
  mlir::Value wordAddress(int64_t word);

  Emitter &e;
  llvm::SmallVector<int64_t> firstWords;
  mlir::TypedValue<mlir::MemRefType> words;
};

// Whether the type says the offset and all strides.
bool hasStaticLayout(mlir::MemRefType memory);

}  // namespace talc
