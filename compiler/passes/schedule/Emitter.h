// SPDX-License-Identifier: Apache-2.0
// A thin layer over OpBuilder, in which code that emits loops over buffers and vectors reads like these loops.
//
// A vector is a value of vector type, or threads of a workgroup with one lane each (gpu/WorkgroupEmitter.h). Code for
// both calls `sync` before one lane reads what another one wrote.
#pragma once

#include "compiler/passes/schedule/IsaTraits.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <functional>

namespace talc {

// Bytes of a cache line.
constexpr int64_t cacheLineBytes = 64;

// Emits f32 vector code of `lanes` lanes at the builder's insertion point; vectors are values of vector type.
class Emitter {
public:
  using Value = mlir::Value;
  using Values = llvm::SmallVector<Value>;

  Emitter(mlir::OpBuilder &builder, mlir::Location loc, int64_t lanes) : b(builder), loc(loc), lanes(lanes) {}
  // Code for a CPU, which may depend on its instruction set.
  Emitter(mlir::OpBuilder &builder, mlir::Location loc, const IsaTraits &traits)
      : b(builder), loc(loc), lanes(traits.lanes), traits(traits) {}
  virtual ~Emitter() = default;

  // Index arithmetic.
  Value index(int64_t value);
  Value add(Value x, Value y);
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, index(y)); }
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value mul(Value x, int64_t y) { return y == 1 ? x : mul(x, index(y)); }
  Value div(Value x, Value y);
  Value div(Value x, int64_t y) { return y == 1 ? x : div(x, index(y)); }
  Value rem(Value x, Value y);
  Value rem(Value x, int64_t y) { return rem(x, index(y)); }
  Value min(Value x, Value y);
  Value max(Value x, Value y);
  Value ceilDiv(Value x, int64_t y) { return div(add(x, y - 1), y); }
  Value ceilDiv(Value x, Value y) { return div(sub(add(x, y), index(1)), y); }
  Value less(Value x, Value y);

  // Vectors of f32.
  mlir::VectorType vectorType() { return mlir::VectorType::get({lanes}, b.getF32Type()); }
  // The type of vectors of a scalar type.
  virtual mlir::Type vectorOf(mlir::Type scalar) { return mlir::VectorType::get({lanes}, scalar); }
  virtual Value splat(double value);
  virtual Value broadcast(Value scalar);
  Value lane(Value vector, int64_t at);
  Value addf(Value x, Value y);
  Value subf(Value x, Value y);
  Value mulf(Value x, Value y);
  Value divf(Value x, Value y);
  Value maxf(Value x, Value y);
  virtual Value fma(Value x, Value y, Value z);
  // Whether x + y - y is evaluated as written. Drivers of GPUs may simplify it to x.
  virtual bool keepsSums() const { return true; }
  Value select(Value mask, Value x, Value y);
  // Reductions over the lanes, as a tree of fixed shape; the result is in every lane.
  virtual Value sumLanes(Value vector);
  virtual Value maxLanes(Value vector);
  // Transposes as many vectors as each has lanes.
  Values transpose(Values rows);

  // Masks: the first `count` lanes.
  virtual Value firstLanes(int64_t count);
  virtual Value firstLanes(Value count);
  Value lanesBetween(Value first, Value end);

  // Memory. Values of any storage format are loaded as f32. A null mask stands for all lanes.
  virtual Value load(Value memref, mlir::ValueRange at, Value mask = {});
  virtual void store(Value vector, Value memref, mlir::ValueRange at, Value mask = {});
  // Makes stores of every lane visible to all lanes.
  virtual void sync() {}
  // Runs body() in one lane, for stores that others must not do at the same time.
  virtual void once(llvm::function_ref<void()> body) { body(); }
  Value loadScalar(Value memref, mlir::ValueRange at);
  void storeScalar(Value scalar, Value memref, mlir::ValueRange at);
  // Prefetches into L1 or L2. The address may be beyond the end of the buffer.
  void prefetch(Value memref, mlir::ValueRange at, int64_t level = 2, bool forWriting = false);
  // Prefetches the cache line that is `line` lines after the one of an element.
  void prefetchLine(Value memref, mlir::ValueRange at, int64_t line, int64_t level);
  // The bytes of a weight that is stored in quant blocks.
  Value bytes(Value memref);
  // Memory that the lanes share: on the stack, allocated before the loops that use it, or of the workgroup.
  virtual Value stackBuffer(llvm::ArrayRef<int64_t> shape);
  Value rows(Value memref);

  // Control flow.
  void loop(Value from, Value to, Value step, llvm::function_ref<void(Value)> body);
  void loop(Value from, Value to, int64_t step, llvm::function_ref<void(Value)> body) {
    loop(from, to, index(step), body);
  }
  Values loop(Value from, Value to, int64_t step, mlir::ValueRange init,
              llvm::function_ref<Values(Value, mlir::ValueRange)> body);
  void when(Value condition, llvm::function_ref<void()> body);
  void choose(Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no);
  // Runs body(c) for the c in [first, last] that equals `value`; the body is emitted for every c, which is at least 1.
  // Zero runs nothing. Any other value is a defect of talc, at which the program stops rather than compute wrong
  // results.
  void dispatch(Value value, int64_t first, int64_t last, llvm::function_ref<void(int64_t)> body);
  // Runs body(i) for i in [0, count), divided among the lanes if these can diverge.
  virtual void each(int64_t count, llvm::function_ref<void(Value)> body);
  // The index of the largest of `count` scalars above `minimum`, of equal ones the first, and that scalar; 0 and
  // `minimum` if there is none. Scalars are compared one by one, divided among the lanes if these can diverge.
  virtual std::pair<Value, Value> largest(int64_t count, Value minimum, llvm::function_ref<Value(Value)> at);
  // Runs body(column, mask or null) for [0, width) in whole vectors, then for a masked rest.
  void columns(int64_t width, llvm::function_ref<void(Value, Value)> body);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const int64_t lanes;
  const IsaTraits traits = {};

protected:
  // The same for the indices from `from` on, with a step.
  std::pair<Value, Value> largest(Value from, int64_t count, int64_t step, Value minimum,
                                  llvm::function_ref<Value(Value)> at);
};

// Stops talc with T0900 unless steps of `step` cover `extent` exactly, for loops whose body takes whole steps. `loop`
// names what the loop goes through.
void requireWholeSteps(int64_t extent, int64_t step, llvm::StringRef loop);

// Whether vectors of `lanes` lanes divide a panel; reports an error at `op` if they do not.
bool isValidWidth(mlir::Operation *op, int64_t lanes);
// Whether such vectors divide the panels of all KV caches; reports an error if they do not.
bool areValidKvCaches(mlir::Operation *module, int64_t lanes);

// The tasks around a compute op, as divide-work leaves it; null, with an error at the op, if there are none.
kernel::TasksOp getEnclosingTasks(mlir::Operation *op);
// The same for an op that needs a plan.
kernel::TasksOp getPlannedTasks(mlir::Operation *op);

// Moves the body of tasks to the emitter's insertion point, with these values for its arguments.
void inlineBody(Emitter &e, kernel::TasksOp tasks, mlir::ValueRange parts);

// Computes a block of scalar f32 operations on vectors; the values that it yields.
Emitter::Values vectorize(Emitter &e, mlir::Block &block, mlir::ValueRange arguments);

}  // namespace talc
