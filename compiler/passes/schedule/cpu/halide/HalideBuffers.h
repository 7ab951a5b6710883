// SPDX-License-Identifier: Apache-2.0
// The structs that tell Halide's functions where a buffer lies: halide_buffer_t of HalideRuntime.h (Halide 14), which
// is 7 words of 8 bytes, and behind it two words for every dimension.
//
//   word  0  1     2        3               4                  5         6
//         0, 0, address, flags 0, type 0 | dimensions << 32, their address, 0     min 0 | extent << 32, stride ...
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class HalideBuffers {
public:
  // On the stack, for buffers of so many dimensions; what never changes of them is written here, in front of loops.
  HalideBuffers(Emitter &e, llvm::ArrayRef<int64_t> ranks);

  // In elements; the outermost dimension comes first.
  struct Places {
    Emitter::Values strides;
    mlir::Value offset;
  };
  static Places placesOf(Emitter &e, mlir::TypedValue<mlir::MemRefType> memory);

  // In elements; those of the innermost dimension come first.
  struct Dimension {
    mlir::Value extent, stride;
  };
  // Describes the part of a buffer that begins at an element; returns the struct's address, of type index.
  mlir::Value fill(size_t number, mlir::TypedValue<mlir::MemRefType> memory, mlir::ValueRange begin,
                   llvm::ArrayRef<Dimension> dimensions);
  // The same in two steps, of which the first can stand in front of loops: all but where it begins; and that.
  void describe(size_t number, llvm::ArrayRef<Dimension> dimensions);
  mlir::Value place(size_t number, mlir::TypedValue<mlir::MemRefType> memory, mlir::ValueRange begin);

private:
  void begin(int64_t first, int64_t rank);
  mlir::Value addressOf(mlir::TypedValue<mlir::MemRefType> memory, mlir::ValueRange at);
  void put(mlir::Value value, int64_t word);
  mlir::Value structAt(int64_t word);

  Emitter &e;
  llvm::SmallVector<int64_t> firstWords;
  mlir::TypedValue<mlir::MemRefType> words;
};

// Whether the type says where elements lie.
bool haveKnownPlaces(mlir::MemRefType memory);

}  // namespace talc
