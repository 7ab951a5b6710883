// SPDX-License-Identifier: Apache-2.0
// An MMA instruction: the threads of a subgroup, or of several, compute D = A * B + C.
//
// Matmuls and attention ask an atom for its shape and for where its operands come from, and call multiply(). How
// fragments are spread over threads is known to the code that loads them, which there is for each atom.
#pragma once

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace talc {

class MmaAtom {
public:
  using Value = mlir::Value;

  struct Shape {
    int64_t m, n, k;
  };
  enum class Source { registers, sharedMemory };

  virtual ~MmaAtom() = default;

  // For listings: m16n8k16.
  virtual llvm::StringRef name() const = 0;
  virtual Shape shape() const = 0;
  // Threads that execute it together.
  virtual int64_t threads() const = 0;
  // Whether A and B may have elements of this type.
  virtual bool accepts(mlir::Type element) const = 0;
  virtual Source sourceOfA() const = 0;
  virtual Source sourceOfB() const = 0;
  // Whether sums may be read only after wait().
  virtual bool isAsynchronous() const = 0;

  // A thread's share of A and B, if they come from registers, and of the sums.
  virtual mlir::VectorType fragmentA(mlir::Type element) const = 0;
  virtual mlir::VectorType fragmentB(mlir::Type element) const = 0;
  virtual mlir::VectorType accumulator(mlir::MLIRContext *context) const = 0;

  // a * b + sum.
  virtual Value multiply(mlir::OpBuilder &b, mlir::Location loc, Value a, Value bOperand, Value sum) const = 0;
  // Waits for all products that are on their way.
  virtual void wait(mlir::OpBuilder &, mlir::Location) const {}
};

// mma.sync.m16n8k16 of f16 or bf16 with sums in f32, by a warp: all operands are in registers, and the warp waits.
//
// Threads are in eight groups of four. Thread c of group g holds
//   of A     rows g and g + 8 at the columns 2c, 2c + 1 and 2c + 8, 2c + 9:  4 pairs
//   of B     column g at the rows 2c, 2c + 1 and 2c + 8, 2c + 9:  2 pairs
//   of sums  rows g and g + 8 at the columns 2c, 2c + 1
struct MmaSyncM16N8K16 {
  static constexpr int64_t m = 16, n = 8, k = 16, threads = 32;
};
const MmaAtom &mmaSyncM16N8K16();

}  // namespace talc
