// SPDX-License-Identifier: Apache-2.0
// Threads as vector lanes: loads, shared memory, shuffles and sums.
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

#include "compiler/passes/schedule/storage/LoadsAndStores.h"
#include "dialects/Invariant.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

Value WorkgroupEmitter::splat(double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}

Value WorkgroupEmitter::fma(Value x, Value y, Value z) {
  return math::FmaOp::create(b, loc, x, y, z);
}

Value WorkgroupEmitter::thread() {
  return gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
}

Value WorkgroupEmitter::workgroup(bool inY) {
  return gpu::BlockIdOp::create(b, loc, inY ? gpu::Dimension::y : gpu::Dimension::x);
}

void WorkgroupEmitter::sync() {
  gpu::BarrierOp::create(b, loc);
}

// Allocated at the begin of the function. Rows are padded to vectors of 4 values, which LLVM may load.
Value WorkgroupEmitter::shared(ArrayRef<int64_t> shape, Type element) {
  SmallVector<int64_t> padded(shape);
  padded.back() = llvm::alignTo(padded.back(), 4);
  OpBuilder::InsertionGuard guard(b);
  Operation *parent = b.getInsertionBlock()->getParentOp();
  auto function = dyn_cast<func::FuncOp>(parent);
  b.setInsertionPointToStart(&(function ? function : parent->getParentOfType<func::FuncOp>()).front());
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  auto type = MemRefType::get(padded, element ? element : b.getF32Type(), MemRefLayoutAttrInterface(), space);
  return memref::AllocaOp::create(b, loc, type);
}

Value WorkgroupEmitter::either(Value condition, llvm::function_ref<Value()> body, Value otherwise) {
  auto branch = scf::IfOp::create(b, loc, otherwise.getType(), condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  Value result = body();
  scf::YieldOp::create(b, loc, result);
  b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(b, loc, otherwise);
  return branch.getResult(0);
}

Emitter::Values WorkgroupEmitter::either(Value condition, llvm::function_ref<Values()> body,
                                         llvm::function_ref<Values()> otherwise) {
  auto inside = [&](llvm::function_ref<Values()> make) {
    return [&, make](OpBuilder &inner, Location) {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(inner.getInsertionBlock(), inner.getInsertionPoint());
      scf::YieldOp::create(b, loc, make());
    };
  };
  return Values(scf::IfOp::create(b, loc, condition, inside(body), inside(otherwise)).getResults());
}

Value WorkgroupEmitter::shuffleXor(Value value, int64_t bit) {
  auto constant = [&](int64_t value) -> Value { return arith::ConstantIntOp::create(b, loc, value, 32); };
  return gpu::ShuffleOp::create(b, loc, value, constant(bit), constant(gpu.subgroupSize), gpu::ShuffleMode::XOR)
      .getShuffleResult();
}

// The indices of this thread's lane.
static Emitter::Values laneIndices(WorkgroupEmitter &e, ValueRange at) {
  Emitter::Values indices(at);
  indices.back() = e.add(indices.back(), e.thread());
  return indices;
}

Value WorkgroupEmitter::load(Value memref, ValueRange at, Value mask) {
  Values indices = laneIndices(*this, at);
  return mask ? either(
                    mask, [&] { return loadScalar(memref, indices); }, splat(0))
              : loadScalar(memref, indices);
}

void WorkgroupEmitter::store(Value vector, Value memref, ValueRange at, Value mask) {
  Values indices = laneIndices(*this, at);
  if (mask)
    when(mask, [&] { storeScalar(vector, memref, indices); });
  else
    storeScalar(vector, memref, indices);
}

Value WorkgroupEmitter::loadVector(Value memref, ValueRange at, int64_t count) {
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  int64_t bytes = getStorageFormat(type)->byteSize(count);
  return vector::LoadOp::create(b, loc, VectorType::get({count}, type), memref, at, /*nontemporal=*/false,
                                llvm::MaybeAlign(bytes));
}

Emitter::Values WorkgroupEmitter::loadValues(Value memref, ValueRange at, int64_t count) {
  if (count == 1)
    return {loadScalar(memref, at)};
  Value vector = loadVector(memref, at, count);
  if (auto f32Vector = VectorType::get({count}, b.getF32Type()); vector.getType() != f32Vector)
    vector = arith::ExtFOp::create(b, loc, f32Vector, vector);
  Values values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(vector::ExtractOp::create(b, loc, vector, i));
  return values;
}

void WorkgroupEmitter::storeVector(ValueRange values, Value memref, ValueRange at) {
  auto count = static_cast<int64_t>(values.size());
  if (count == 1)
    return storeScalar(values.front(), memref, at);
  Type type = cast<MemRefType>(memref.getType()).getElementType();
  Value vector = vector::FromElementsOp::create(b, loc, VectorType::get({count}, values.front().getType()), values);
  vector::StoreOp::create(b, loc, convertToElement(*this, vector, memref), memref, at, /*nontemporal=*/false,
                          llvm::MaybeAlign(getStorageFormat(type)->byteSize(count)));
}

void WorkgroupEmitter::each(int64_t count, llvm::function_ref<void(Value)> body) {
  loop(thread(), index(count), lanes, body);
}

// Each thread finds the largest of its values. Among threads with the maximum the smallest index wins; indices are
// exact as f32.
std::pair<Value, Value> WorkgroupEmitter::largest(int64_t count, Value minimum, llvm::function_ref<Value(Value)> at) {
  require(count < int64_t(1) << 24, "f32 holds every index exactly");
  auto [index, value] = Emitter::largest(thread(), count, lanes, minimum, at);
  Value maximum = maxLanes(value), number = arith::IndexCastOp::create(b, loc, b.getI32Type(), index);
  number = arith::SIToFPOp::create(b, loc, b.getF32Type(), number);
  Value has = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value, maximum);
  Value first = maxLanes(select(has, subf(splat(0), number), splat(-HUGE_VAL)));
  first = arith::FPToSIOp::create(b, loc, b.getI32Type(), subf(splat(0), first));
  return {arith::IndexCastOp::create(b, loc, b.getIndexType(), first), maximum};
}

Value WorkgroupEmitter::fold(Value vector, Combine combine) {
  return gpu.subgroupSize > 1 ? foldSubgroups(vector, combine) : foldThreads(vector, combine);
}

// The first half of the threads combines its values with those of the second half, until one thread is left.
Value WorkgroupEmitter::foldThreads(Value vector, Combine combine) {
  if (!partials)
    partials = shared({lanes});
  Value lane = thread();
  sync();  // all threads have read the partial results before
  storeScalar(vector, partials, {lane});
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    sync();
    when(less(lane, index(half)), [&] {
      Value other = loadScalar(partials, {add(lane, half)});
      storeScalar(combine(loadScalar(partials, {lane}), other), partials, {lane});
    });
  }
  sync();
  return loadScalar(partials, {index(0)});
}

// A butterfly in each subgroup, so that all of its threads have the same bits, then all subgroups in order.
Value WorkgroupEmitter::foldSubgroups(Value vector, Combine combine) {
  const int64_t subgroup = gpu.subgroupSize;
  for (int64_t distance = subgroup / 2; distance > 0; distance /= 2)
    vector = combine(vector, shuffleXor(vector, distance));
  int64_t subgroups = lanes / subgroup;
  if (subgroups == 1)
    return vector;
  if (!partials)
    partials = shared({1024 / subgroup});
  sync();  // all threads have read the partial results before
  Value lane = thread(),
        isFirst = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, rem(lane, subgroup), index(0));
  when(isFirst, [&] { storeScalar(vector, partials, {div(lane, subgroup)}); });
  sync();
  Value result = loadScalar(partials, {index(0)});
  for (int64_t i = 1; i < subgroups; ++i)
    result = combine(result, loadScalar(partials, {index(i)}));
  return result;
}

Value WorkgroupEmitter::sumLanes(Value vector) {
  return fold(vector, [&](Value x, Value y) { return addf(x, y); });
}

Value WorkgroupEmitter::maxLanes(Value vector) {
  return fold(vector, [&](Value x, Value y) { return maxf(x, y); });
}

}  // namespace talc
