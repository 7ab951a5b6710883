// SPDX-License-Identifier: Apache-2.0
// Emits code for the threads of a workgroup: a vector has a lane in each thread.
//
//   load(memref, {row, column}, mask)   ->   thread t loads element (row, column + t), if the mask is true there
//   sumLanes(v)                         ->   the sum over the workgroup, by shuffles and shared memory, in every thread
//
// Where the size of subgroups is not known, sums go through shared memory only: as a tree over the threads, so that
// bits are the same on every GPU.
//
// All threads run the same loops and branches around what reads other lanes: conditions there are uniform.
#pragma once

#include "compiler/passes/schedule/Emitter.h"
#include "compiler/passes/schedule/gpu/GpuFacts.h"

namespace talc {

// What code asks of the compilers behind talc; see #kernel.launch.
struct CodeLimits {
  int64_t maxRegisters = 0;  // 0: no limit
  bool keepLoops = false, narrowIndices = false;
};

class WorkgroupEmitter final : public Emitter {
public:
  // `lanes`: threads, a power of two from 32 to 1024 where sums over lanes are needed.
  WorkgroupEmitter(mlir::OpBuilder &builder, mlir::Location loc, int64_t lanes, const GpuFacts &gpu = anyGpu())
      : Emitter(builder, loc, lanes), gpu(gpu) {}

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
  std::pair<Value, Value> largest(int64_t count, Value minimum, llvm::function_ref<Value(Value)> at) override;

  // `count` neighbors in the last dimension, as a vector; they begin at a multiple of `count`.
  Value loadVector(Value memref, mlir::ValueRange at, int64_t count);
  // The same as single values, converted to f32; of a weight in quant blocks one value.
  Values loadValues(Value memref, mlir::ValueRange at, int64_t count);
  // Stores values side by side, beginning at a multiple of their count.
  void storeVector(mlir::ValueRange values, Value memref, mlir::ValueRange at);

  // Index of this thread in its workgroup, and of the workgroup in a dimension of the grid.
  Value thread();
  Value workgroup(bool inY);
  // A buffer in shared memory, by default of f32.
  Value shared(llvm::ArrayRef<int64_t> shape, mlir::Type element = {});
  // body() where `condition` holds, else `otherwise`.
  Value either(Value condition, llvm::function_ref<Value()> body, Value otherwise);
  Values either(Value condition, llvm::function_ref<Values()> body, llvm::function_ref<Values()> otherwise);
  // The value of the thread whose index in the subgroup differs by this bit. All threads of the subgroup take part.
  Value shuffleXor(Value value, int64_t bit);

  const GpuFacts &gpu;
  CodeLimits limits;

private:
  using Combine = llvm::function_ref<Value(Value, Value)>;
  Value fold(Value vector, Combine combine);
  Value foldSubgroups(Value vector, Combine combine);
  Value foldThreads(Value vector, Combine combine);

  Value partials;  // of fold(), in shared memory
};

}  // namespace talc
