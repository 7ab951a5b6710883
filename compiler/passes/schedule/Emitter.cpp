// SPDX-License-Identifier: Apache-2.0
// A thin layer over OpBuilder, in which code that emits loops over buffers and vectors reads like these loops.
#include "compiler/passes/schedule/Emitter.h"

#include "compiler/passes/schedule/storage/LoadsAndStores.h"

#include "dialects/talc/formats/KvFormats.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/ErrorHandling.h"

using namespace mlir;

namespace talc {

//===--- index arithmetic -------------------------------------------------------------------------------------===//

Value Emitter::index(int64_t value) {
  return arith::ConstantIndexOp::create(b, loc, value);
}
Value Emitter::add(Value x, Value y) {
  return arith::AddIOp::create(b, loc, x, y);
}
Value Emitter::sub(Value x, Value y) {
  return arith::SubIOp::create(b, loc, x, y);
}
Value Emitter::mul(Value x, Value y) {
  return arith::MulIOp::create(b, loc, x, y);
}
Value Emitter::div(Value x, Value y) {
  return arith::DivUIOp::create(b, loc, x, y);
}
Value Emitter::rem(Value x, Value y) {
  return arith::RemUIOp::create(b, loc, x, y);
}
Value Emitter::min(Value x, Value y) {
  return arith::MinSIOp::create(b, loc, x, y);
}
Value Emitter::max(Value x, Value y) {
  return arith::MaxSIOp::create(b, loc, x, y);
}
Value Emitter::less(Value x, Value y) {
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y);
}

//===--- vectors ----------------------------------------------------------------------------------------------===//

Value Emitter::splat(double value) {
  auto element = b.getF32FloatAttr(static_cast<float>(value));
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vectorType(), element));
}
Value Emitter::broadcast(Value scalar) {
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, scalar.getType()), scalar);
}
Value Emitter::lane(Value vector, int64_t at) {
  return vector::ExtractOp::create(b, loc, vector, at);
}
Value Emitter::addf(Value x, Value y) {
  return arith::AddFOp::create(b, loc, x, y);
}
Value Emitter::subf(Value x, Value y) {
  return arith::SubFOp::create(b, loc, x, y);
}
Value Emitter::mulf(Value x, Value y) {
  return arith::MulFOp::create(b, loc, x, y);
}
Value Emitter::divf(Value x, Value y) {
  return arith::DivFOp::create(b, loc, x, y);
}
Value Emitter::fma(Value x, Value y, Value z) {
  return vector::FMAOp::create(b, loc, x, y, z);
}
Value Emitter::select(Value mask, Value x, Value y) {
  return arith::SelectOp::create(b, loc, mask, x, y);
}

// A compare and a select become one instruction; NaN in y wins, NaN in x is dropped.
Value Emitter::maxf(Value x, Value y) {
  return select(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, x, y), x, y);
}

// Combines lane i with lane i + half, half = lanes/2 ... 1.
static Value foldLanes(Emitter &e, Value vector, llvm::function_ref<Value(Value, Value)> combine) {
  for (int64_t half = e.lanes / 2; half >= 1; half /= 2) {
    SmallVector<int64_t> order(e.lanes);
    for (int64_t i = 0; i < e.lanes; ++i)
      order[i] = (i + half) % e.lanes;
    vector = combine(vector, vector::ShuffleOp::create(e.b, e.loc, vector, vector, order));
  }
  return vector;
}

Value Emitter::sumLanes(Value vector) {
  return foldLanes(*this, vector, [&](Value x, Value y) { return addf(x, y); });
}
Value Emitter::maxLanes(Value vector) {
  return foldLanes(*this, vector, [&](Value x, Value y) { return maxf(x, y); });
}

// Interleaves row i with row i + lanes/2, once for each bit of a lane index, which exchanges the bits of rows and
// lanes.
Emitter::Values Emitter::transpose(Values rows) {
  for (int64_t bit = 1; bit < lanes; bit *= 2) {
    Values next;
    for (int64_t i = 0; i < lanes; ++i) {
      SmallVector<int64_t> order;
      for (int64_t j = 0; j < lanes; ++j)
        order.push_back(i % 2 * lanes / 2 + j / 2 + j % 2 * lanes);
      next.push_back(vector::ShuffleOp::create(b, loc, rows[i / 2], rows[i / 2 + lanes / 2], order));
    }
    rows = next;
  }
  return rows;
}

Value Emitter::firstLanes(int64_t count) {
  SmallVector<bool> mask(lanes);
  std::fill_n(mask.begin(), count, true);
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, mask));
}
Value Emitter::firstLanes(Value count) {
  return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), count);
}
Value Emitter::lanesBetween(Value first, Value end) {
  return arith::XOrIOp::create(b, loc, firstLanes(end), firstLanes(first));
}

//===--- memory -----------------------------------------------------------------------------------------------===//

Value Emitter::load(Value memref, ValueRange at, Value mask) {
  return getLoads(memref).vector(*this, memref, at, mask);
}

void Emitter::store(Value vector, Value memref, ValueRange at, Value mask) {
  vector = convertToElement(*this, vector, memref);
  if (mask)
    vector::MaskedStoreOp::create(b, loc, memref, at, mask, vector);
  else
    vector::StoreOp::create(b, loc, vector, memref, at);
}

Value Emitter::loadScalar(Value memref, ValueRange at) {
  return getLoads(memref).scalar(*this, memref, at);
}
void Emitter::storeScalar(Value scalar, Value memref, ValueRange at) {
  memref::StoreOp::create(b, loc, convertToElement(*this, scalar, memref), memref, at);
}
// The byte offset of a value, as if the bytes of its block were divided evenly among its values.
static Value byteOffset(Emitter &e, MemRefType type, ValueRange at) {
  const StorageFormat &format = elementFormat(type);
  Value value = at.front();
  for (auto [size, index] : llvm::zip(type.getShape().drop_front(), at.drop_front()))
    value = e.add(e.mul(value, size), index);
  return e.div(e.mul(value, format.blockBytes), format.blockValues);
}
void Emitter::prefetch(Value memref, ValueRange at, int64_t level, bool forWriting) {
  auto type = cast<MemRefType>(memref.getType());
  if (isa<StoredType>(type.getElementType()))
    return prefetch(bytes(memref), byteOffset(*this, type, at), level, forWriting);
  memref::PrefetchOp::create(b, loc, memref, at, forWriting, /*localityHint=*/4 - level, /*isDataCache=*/true);
}
void Emitter::prefetchLine(Value memref, ValueRange at, int64_t line, int64_t level) {
  auto type = cast<MemRefType>(memref.getType());
  // Uses the buffer of bytes, so that only the address of the first line is computed.
  if (isa<StoredType>(type.getElementType()))
    return prefetch(bytes(memref), add(byteOffset(*this, type, at), line * cacheLineBytes), level);
  Values behind(at);
  behind.back() = add(behind.back(), line * cacheLineBytes / elementFormat(type).blockBytes);
  prefetch(memref, behind, level);
}
Value Emitter::bytes(Value memref) {
  return kernel::BytesOp::create(b, loc, kernel::bytesType(cast<MemRefType>(memref.getType())), memref);
}
Value Emitter::stackBuffer(ArrayRef<int64_t> shape) {
  return memref::AllocaOp::create(b, loc, MemRefType::get(shape, b.getF32Type()), b.getI64IntegerAttr(64));
}
Value Emitter::rows(Value memref) {
  return b.createOrFold<memref::DimOp>(loc, memref, 0);
}

//===--- control flow -----------------------------------------------------------------------------------------===//

void Emitter::loop(Value from, Value to, Value step, llvm::function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, from, to, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

Emitter::Values Emitter::loop(Value from, Value to, int64_t step, ValueRange init,
                              llvm::function_ref<Values(Value, ValueRange)> body) {
  Value stride = index(step);
  auto loop = scf::ForOp::create(b, loc, from, to, stride, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Values results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  if (!init.empty())  // a loop without iter_args has a terminator
    scf::YieldOp::create(b, loc, results);
  return Values(loop.getResults());
}

void Emitter::when(Value condition, llvm::function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  body();
}

void Emitter::choose(Value condition, llvm::function_ref<void()> yes, llvm::function_ref<void()> no) {
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  yes();
  b.setInsertionPointToStart(branch.elseBlock());
  no();
}

void Emitter::dispatch(Value value, int64_t first, int64_t last, llvm::function_ref<void(int64_t)> body) {
  SmallVector<int64_t> cases = {0};
  for (int64_t number = first; number <= last; ++number)
    cases.push_back(number);
  auto branch = scf::IndexSwitchOp::create(b, loc, TypeRange(), value, cases, cases.size());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&branch.getDefaultRegion());
  LLVM::Trap::create(b, loc);
  scf::YieldOp::create(b, loc);
  for (auto [region, number] : llvm::zip(branch.getCaseRegions(), cases)) {
    b.createBlock(&region);
    if (number > 0)
      body(number);
    scf::YieldOp::create(b, loc);
  }
}

void Emitter::each(int64_t count, llvm::function_ref<void(Value)> body) {
  loop(index(0), index(count), 1, body);
}

std::pair<Value, Value> Emitter::largest(int64_t count, Value minimum, llvm::function_ref<Value(Value)> at) {
  return largest(index(0), count, 1, minimum, at);
}

std::pair<Value, Value> Emitter::largest(Value from, int64_t count, int64_t step, Value minimum,
                                         llvm::function_ref<Value(Value)> at) {
  Values none = {index(0), minimum};
  Values result = loop(from, index(count), step, none, [&](Value i, ValueRange best) -> Values {
    Value candidate = at(i);
    Value better = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGT, candidate, best[1]);
    return {select(better, i, best[0]), select(better, candidate, best[1])};
  });
  return {result[0], result[1]};
}

void Emitter::columns(int64_t width, llvm::function_ref<void(Value, Value)> body) {
  int64_t wholeWidth = width / lanes * lanes;
  if (wholeWidth > 0)
    loop(index(0), index(wholeWidth), lanes, [&](Value column) { body(column, {}); });
  if (wholeWidth < width)
    body(index(wholeWidth), firstLanes(width - wholeWidth));
}

void requireWholeSteps(int64_t extent, int64_t step, StringRef loop) {
  if (step <= 0 || extent % step != 0)
    llvm::report_fatal_error("a loop over " + loop + " takes " + llvm::Twine(step) + " at a time of " +
                                 llvm::Twine(extent),
                             /*gen_crash_diag=*/false);
}

bool isValidWidth(Operation *op, int64_t lanes) {
  static constexpr int64_t widths[] = {4, 8, 16};  // of NEON, AVX2 and AVX-512
  if (llvm::is_contained(widths, lanes))
    return true;
  op->emitError() << "vectors of " << lanes << " lanes, expected 4, 8 or 16";
  return false;
}

static bool isForStates(Type element) {
  return llvm::is_contained(kvFormatNames(), getStorageFormat(element)->name);
}

bool areValidKvCaches(Operation *module, int64_t lanes) {
  auto check = [&](Operation *op, Value cache) -> WalkResult {
    auto type = cast<KvCacheType>(cache.getType());
    auto layout = dyn_cast_if_present<kernel::KvPanelsAttr>(type.getLayout());
    if (layout && isForStates(layout.getKeys()) && isForStates(layout.getValues()) && layout.getTokens() % lanes == 0)
      return WalkResult::advance();
    return op->emitOpError() << "is of " << type << ", expected panels of " << llvm::join(kvFormatNames(), ", ")
                             << " that vectors of " << lanes << " lanes divide";
  };
  WalkResult result = module->walk([&](Operation *op) -> WalkResult {
    if (auto append = dyn_cast<kernel::KvAppendOp>(op))
      return check(op, append.getCache());
    auto attention = dyn_cast<kernel::AttentionOp>(op);
    return attention ? check(op, attention.getCache()) : WalkResult::advance();
  });
  return !result.wasInterrupted();
}

kernel::TasksOp getEnclosingTasks(Operation *op) {
  kernel::TasksOp tasks = kernel::TasksOp::around(op);
  if (!tasks || tasks.getComputeOp() != op) {
    op->emitOpError("is not in tasks of its own; divide-work creates them");
    return {};
  }
  return tasks;
}

void inlineBody(Emitter &e, kernel::TasksOp tasks, ValueRange parts) {
  Block &body = tasks.getBody().front();
  for (auto [argument, part] : llvm::zip_equal(body.getArguments(), parts))
    argument.replaceAllUsesWith(part);
  e.b.getInsertionBlock()->getOperations().splice(e.b.getInsertionPoint(), body.getOperations());
}

kernel::TasksOp getPlannedTasks(Operation *op) {
  kernel::TasksOp tasks = getEnclosingTasks(op);
  if (!tasks || tasks.getPlan())
    return tasks;
  op->emitOpError("has no plan; assign-plans chooses one");
  return {};
}

//===--- scalar code on vectors -------------------------------------------------------------------------------===//

Emitter::Values vectorize(Emitter &e, Block &block, ValueRange arguments) {
  IRMapping mapping;
  mapping.map(block.getArguments(), arguments);
  for (Operation &op : block.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>()) {
      mapping.map(op.getResult(0), e.broadcast(e.b.clone(op)->getResult(0)));
      continue;
    }
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(mapping.contains(operand) ? mapping.lookup(operand) : e.broadcast(operand));
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(e.vectorOf(type));
    OperationState state(op.getLoc(), op.getName(), operands, types, op.getAttrs());
    mapping.map(op.getResults(), e.b.create(state)->getResults());
  }
  Emitter::Values results;
  for (Value value : block.getTerminator()->getOperands())
    results.push_back(mapping.contains(value) ? mapping.lookup(value) : e.broadcast(value));
  return results;
}

}  // namespace talc
