// SPDX-License-Identifier: Apache-2.0
// Vectors as the threads of a workgroup: each thread has one lane.
//
//   load(memref, {row, column}, mask)   ->   thread t loads element (row, column + t), if the mask is true there
//   sumLanes(v)                         ->   the sum over the workgroup, by shuffles and shared memory, in every thread
//
// Where nobody knows which threads shuffle among themselves, shared memory alone does it: a tree over the threads, so
// that bits are those of every GPU.
//
// All threads run the same loops and branches around what reads other lanes: conditions there are equal in all of them.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

class WorkgroupEmitter final : public Emitter {
public:
  // `lanes`: threads, a power of two from 32 to 1024 where they are folded. `subgroup`: how many neighbouring ones
  // shuffle among themselves; 1: none.
  WorkgroupEmitter(mlir::OpBuilder &builder, mlir::Location loc, int64_t lanes, int64_t subgroup = 1)
      : Emitter(builder, loc, lanes), subgroup(subgroup) {}

  mlir::Type vectorOf(mlir::Type scalar) override { return scalar; }
  Value splat(double value) override;
  Value broadcast(Value scalar) override { return scalar; }
  Value fma(Value x, Value y, Value z) override;
  bool keepsSums() const override { return false; }
  Value sumLanes(Value vector) override;
  Value maxLanes(Value vector) override;
  Value firstLanes(int64_t count) override { return firstLanes(index(count)); }
  Value firstLanes(Value count) override { return less(thread(), count); }
  Value load(Value memref, mlir::ValueRange at, Value mask = {}) override;
  void store(Value vector, Value memref, mlir::ValueRange at, Value mask = {}) override;
  Value stackBuffer(llvm::ArrayRef<int64_t> shape) override { return shared(shape); }
  void sync() override;
  void once(llvm::function_ref<void()> body) override { when(less(thread(), index(1)), body); }
  void each(int64_t count, llvm::function_ref<void(Value)> body) override;
  std::pair<Value, Value> largest(int64_t count, Value least, llvm::function_ref<Value(Value)> at) override;

  // `count` neighbours in the last dimension, as a vector; they begin at a multiple of so many.
  Value loadTogether(Value memref, mlir::ValueRange at, int64_t count);
  // The same as numbers, which are widened; of a weight in blocks one.
  Values loadNumbers(Value memref, mlir::ValueRange at, int64_t count);
  // Stores numbers side by side, from a multiple of so many on.
  void storeTogether(mlir::ValueRange numbers, Value memref, mlir::ValueRange at);

  // The number of this thread, of this workgroup in a dimension of the grid.
  Value thread();
  Value workgroup(bool inY);
  // Memory of the workgroup, of f32 if nothing else is said.
  Value shared(llvm::ArrayRef<int64_t> shape, mlir::Type element = {});
  // body() where `condition` holds, else `otherwise`.
  Value either(Value condition, llvm::function_ref<Value()> body, Value otherwise);
  Values either(Value condition, llvm::function_ref<Values()> body, llvm::function_ref<Values()> otherwise);
  // What the thread of the subgroup has whose number differs by this bit. All threads of the subgroup take part.
  Value exchanged(Value value, int64_t bit);

private:
  using Combine = llvm::function_ref<Value(Value, Value)>;
  Value fold(Value vector, Combine combine);
  Value foldSubgroups(Value vector, Combine combine);
  Value foldThreads(Value vector, Combine combine);

  const int64_t subgroup;
  Value partials;  // of fold()
};

// Threads of a workgroup, set on a kernel's function.
constexpr llvm::StringLiteral threadsAttr = "kernel.threads";
// How the kernel's piece is cut, for readers.
constexpr llvm::StringLiteral tileAttr = "kernel.tile";
// The most registers that a thread may take, where it is said. Where it is not, an assembler may keep some in memory so
// that more workgroups fit.
constexpr llvm::StringLiteral registersAttr = "kernel.registers";
// Set where loops are to stay loops: an assembler that unrolls them would not have registers enough.
constexpr llvm::StringLiteral rolledAttr = "kernel.rolled";
// Set where few registers are left: indices take one where they can.
constexpr llvm::StringLiteral narrowAttr = "kernel.narrow";
// How many workgroups a launch takes (LaunchGrid): {rows, divisor, plus, y}; rows, an argument of the
// function whose rows count, may be missing.
constexpr llvm::StringLiteral gridAttr = "kernel.grid";

}  // namespace talc
