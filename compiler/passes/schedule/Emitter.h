// SPDX-License-Identifier: Apache-2.0
// A thin layer over OpBuilder in which loops over buffers and vectors read like the loops they make.
//
// What a vector is, is the machine's: a value of vector type, or as many threads of a workgroup that each have one lane
// (gpu/WorkgroupEmitter.h). Code that both run says `sync` where one lane reads what another one wrote.
#pragma once

#include "compiler/passes/schedule/IsaTraits.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <functional>

namespace talc {

// Of a line of the caches.
constexpr int64_t cacheLineBytes = 64;

// Builds f32 vector code of `lanes` lanes at the builder's insertion point; vectors are values of vector type.
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
  // Of vectors of scalars of a type.
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
  // Whether x + y - y is what it says. Drivers of GPUs may make x of it.
  virtual bool keepsSums() const { return true; }
  Value select(Value mask, Value x, Value y);
  // Reductions over the lanes, as a tree of fixed shape; the result is in every lane.
  virtual Value sumLanes(Value vector);
  virtual Value maxLanes(Value vector);
  // Of as many vectors as one has lanes.
  Values transpose(Values rows);

  // Masks: the first `count` lanes.
  virtual Value firstLanes(int64_t count);
  virtual Value firstLanes(Value count);
  Value lanesBetween(Value first, Value end);

  // Memory. Values of any storage format are loaded as f32. A null mask stands for all lanes.
  virtual Value load(Value memref, mlir::ValueRange at, Value mask = {});
  virtual void store(Value vector, Value memref, mlir::ValueRange at, Value mask = {});
  // All lanes see what each of them stored.
  virtual void sync() {}
  // body() by one lane: for what others must not store at the same time.
  virtual void once(llvm::function_ref<void()> body) { body(); }
  Value loadScalar(Value memref, mlir::ValueRange at);
  void storeScalar(Value scalar, Value memref, mlir::ValueRange at);
  // Into L1 or L2. The place may lie behind the end of the buffer.
  void prefetch(Value memref, mlir::ValueRange at, int64_t level = 2, bool forWriting = false);
  // The line so many lines of the caches behind the one of a place.
  void prefetchLine(Value memref, mlir::ValueRange at, int64_t line, int64_t level);
  // All bytes of a weight whose values are stored in blocks.
  Value bytes(Value memref);
  // Memory that the lanes share: on the stack in front of the loops that use it, or of the workgroup.
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
  // Runs body(c) for the one c in [first, last] that equals `value`, with c known to the body at compile time.
  void dispatch(Value value, int64_t first, int64_t last, llvm::function_ref<void(int64_t)> body);
  // body(i) for i in [0, count), one by one, shared by the lanes where these can go different ways.
  virtual void each(int64_t count, llvm::function_ref<void(Value)> body);
  // The place of the largest of `count` scalars above `least`, of equal ones the first, and that scalar; 0 and `least`
  // if there is none. Scalars are asked for one by one, shared by the lanes where these can go different ways.
  virtual std::pair<Value, Value> largest(int64_t count, Value least, llvm::function_ref<Value(Value)> at);
  // [0, width) in whole vectors, then a masked rest: body(column, mask or null).
  void columns(int64_t width, llvm::function_ref<void(Value, Value)> body);

  mlir::OpBuilder &b;
  mlir::Location loc;
  const int64_t lanes;
  const IsaTraits traits = {};

protected:
  // The same of the places from one on, in steps.
  std::pair<Value, Value> largest(Value from, int64_t count, int64_t step, Value least,
                                  llvm::function_ref<Value(Value)> at);
};

// Whether vectors of `lanes` lanes divide a panel; says so at `op` if they do not.
bool isValidWidth(mlir::Operation *op, int64_t lanes);
// Whether such vectors divide the panels of all states, which are f32; says so where they do not.
bool areValidKvCaches(mlir::Operation *module, int64_t lanes);

// The tasks that a piece stands in, as divide-work left it; null, said at the piece, if there are none.
kernel::TasksOp getEnclosingTasks(mlir::Operation *piece);
// The same of a piece that cannot be expanded without a plan.
kernel::TasksOp getPlannedTasks(mlir::Operation *piece);

// Moves the body of tasks to where `e` stands, with these values for its arguments.
void inlineBody(Emitter &e, kernel::TasksOp tasks, mlir::ValueRange parts);

// The values that a block of scalar f32 operations yields, computed on vectors.
Emitter::Values vectorize(Emitter &e, mlir::Block &block, mlir::ValueRange arguments);

}  // namespace talc
