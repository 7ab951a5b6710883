// SPDX-License-Identifier: Apache-2.0
// convert-buffers-to-addresses: converts accesses of buffers to loads and stores at addresses of 64 bits, as SPIR-V has
// them with PhysicalStorageBuffer64.
//
//   func @norm(%step: !kernel.step, %x: memref<?x64xf32>)   ->   func @norm(%step: i64, %address: i64, %rows: i64)
//   %v = memref.load %x[%i, %j]   ->   %p = spirv.ConvertUToPtr %address + 4 * (64 * %i + %j);  %v = spirv.Load %p
//   %id = kernel.id %step[%t]     ->   loads from StepTables
//
// Upstream's conversion of memrefs expects bindings, static sizes and one dimension. Arguments are those of
// PassedBuffer.h; inside a kernel a cast holds the parts of a buffer. Offsets in a buffer that is smaller than 2 GiB
// are computed in 32 bits, which is faster on GPUs. Shared memory is left as it is.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/PassedBuffer.h"
#include "compiler/passes/codegen/gpu/StepTables.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"
#include "dialects/Invariant.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVDialect.h"
#include "mlir/Dialect/SPIRV/IR/SPIRVOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Interfaces/DataLayoutInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_CONVERTBUFFERSTOADDRESSES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using talc::bufferType;
using talc::PassedBuffer;
namespace kernel = talc::kernel;

namespace {

int64_t getByteSize(Type number) {
  return static_cast<int64_t>(DataLayout().getTypeSize(number).getFixedValue());
}

// Arithmetic of addresses (i64) and offsets (index), which are not negative.
struct Builder {
  explicit Builder(Operation *op) : b(op), loc(op->getLoc()) {}
  Builder(OpBuilder b, Location loc) : b(b), loc(loc) {}

  Value constant(Type type, int64_t value) { return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value)); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, int64_t y) {
    return y == 1 ? x : arith::MulIOp::create(b, loc, x, constant(x.getType(), y)).getResult();
  }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value toI64(Value value) {
    return value.getType().isIndex() ? arith::IndexCastUIOp::create(b, loc, b.getI64Type(), value).getResult() : value;
  }
  Value toIndex(Value value) { return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), value); }
  Value cast(ValueRange values, Type type) {
    return UnrealizedConversionCastOp::create(b, loc, type, values).getResult(0);
  }
  // The address behind a cast.
  Value addressOf(Value value) {
    if (value.getType().isInteger(64))
      return value;
    auto source = value.getDefiningOp<UnrealizedConversionCastOp>();
    return source ? source.getOperand(0) : cast(value, b.getI64Type());
  }

  Value pointer(Value address, Type pointee) {
    auto type = spirv::PointerType::get(pointee, spirv::StorageClass::PhysicalStorageBuffer);
    return spirv::ConvertUToPtrOp::create(b, loc, type, address);
  }
  spirv::MemoryAccessAttr aligned() {
    return spirv::MemoryAccessAttr::get(b.getContext(), spirv::MemoryAccess::Aligned);
  }
  Value load(Value address, Type type) {
    return spirv::LoadOp::create(b, loc, pointer(address, type), aligned(), alignmentOf(type));
  }
  void store(Value value, Value address) {
    Type type = value.getType();
    spirv::StoreOp::create(b, loc, pointer(address, type), value, aligned(), alignmentOf(type));
  }
  IntegerAttr alignmentOf(Type type) {
    return b.getI32IntegerAttr(static_cast<int32_t>(getByteSize(getElementTypeOrSelf(type))));
  }

  OpBuilder b;
  Location loc;
};

class AddressReader final : public talc::TableReader {
public:
  AddressReader(Operation *op, ModuleOp module) : e(op), module(module) {}

  Value count(Value step, int64_t field) override { return word(step, e.constant(e.b.getIndexType(), field)); }

  Value element(Value step, int64_t array, Value at, int64_t size, int64_t field) override {
    Value begin = e.mul(count(step, array), sizeof(int32_t));
    return word(step, e.add(begin, e.add(e.mul(at, size), e.constant(e.b.getIndexType(), field))));
  }

  Value statePart(MemRefType type, Value state, Value slot, int64_t offset) override {
    auto plan = module->getAttrOfType<DictionaryAttr>(talc::planAttr);
    int64_t slotBytes = cast<IntegerAttr>(plan.get(talc::slotBytesKey)).getInt();
    Value place = e.add(e.mul(e.toI64(slot), slotBytes), e.constant(e.b.getI64Type(), offset));
    return e.cast(e.add(e.addressOf(state), place), type);
  }

  Value byteBuffer(kernel::BytesOp op) override {
    return op.getBuffer().getType() == op.getType() ? op.getBuffer()
                                                    : e.cast(e.addressOf(op.getBuffer()), op.getType());
  }

private:
  Value word(Value step, Value offset) {
    return e.toIndex(e.load(e.add(e.addressOf(step), e.toI64(offset)), e.b.getI32Type()));
  }

  Builder e;
  ModuleOp module;
};

// The parts of a buffer that its kernel is passed.
class Buffer {
public:
  Buffer(Builder &e, Value buffer) : e(e), type(cast<MemRefType>(buffer.getType())) {
    auto source = buffer.getDefiningOp<UnrealizedConversionCastOp>();
    PassedBuffer passed(type);
    if (source && source.getNumOperands() == passed.parts().size())
      for (auto [part, value] : llvm::zip(passed.parts(), source.getOperands()))
        parts.push_back({part, value});
  }

  bool isKnown() const { return !parts.empty(); }
  Value size(unsigned dimension) const { return find(PassedBuffer::Field::size, dimension); }

  // The address of an element.
  Value addressOf(ValueRange at) {
    auto [strides, offset] = type.getStridesAndOffset();
    const int64_t bytes = getByteSize(type.getElementType());
    const bool narrow = isNarrow(strides, offset);
    Value offsetInBuffer = ShapedType::isDynamic(offset) ? find(PassedBuffer::Field::offset, 0) : Value();
    if (offset > 0)
      offsetInBuffer = e.constant(narrow ? e.b.getIndexType() : Type(e.b.getI64Type()), offset);
    for (auto [i, stride] : llvm::enumerate(strides)) {
      Value term = narrow ? at[i] : e.toI64(at[i]);
      term = ShapedType::isDynamic(stride) ? e.mul(term, find(PassedBuffer::Field::stride, i)) : e.mul(term, stride);
      offsetInBuffer = offsetInBuffer ? e.add(offsetInBuffer, term) : term;
    }
    Value address = parts.front().second;
    return offsetInBuffer ? e.add(address, e.toI64(e.mul(offsetInBuffer, bytes))) : address;
  }

private:
  Value find(PassedBuffer::Field field, unsigned dimension) const {
    for (auto [part, value] : parts)
      if (part.field == field && part.dimension == dimension)
        return value;
    talc::endByDefect("what a type does not say is passed");
  }

  // Whether all offsets, in bytes, have 31 bits.
  bool isNarrow(ArrayRef<int64_t> strides, int64_t offset) const {
    if (!type.hasStaticShape() || ShapedType::isDynamic(offset) || llvm::any_of(strides, ShapedType::isDynamic))
      return false;
    int64_t last = offset;
    for (auto [size, stride] : llvm::zip(type.getShape(), strides))
      last += size * stride;
    return last * getByteSize(type.getElementType()) < INT32_MAX;
  }

  Builder &e;
  MemRefType type;
  SmallVector<std::pair<PassedBuffer::Part, Value>> parts;
};

// Folds a bitcast to the bits of a bf16 into the bitcast from bytes before it.
struct BitsOfBytes : OpRewritePattern<arith::BitcastOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::BitcastOp op, PatternRewriter &rewriter) const override {
    auto bytes = op.getIn().getDefiningOp<vector::BitCastOp>();
    if (!bytes)
      return failure();
    rewriter.replaceOpWithNewOp<vector::BitCastOp>(op, op.getType(), bytes.getSource());
    return success();
  }
};

struct ConvertBuffersToAddresses : talc::impl::ConvertBuffersToAddressesBase<ConvertBuffersToAddresses> {
  void runOnOperation() override {
    int64_t count = 0;
    auto replace = [&](Operation *op) {
      AddressReader reader(op, getOperation());
      return talc::readTables(reader, op);
    };
    if (failed(talc::replaceStepOps(getOperation(), count, replace)))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal()) {
        convertSignature(function);
        if (failed(convertAccesses(function)))
          return signalPassFailure();
      }
    RewritePatternSet patterns(&getContext());
    arith::populateExpandBFloat16Patterns(patterns);
    patterns.add<BitsOfBytes>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    talc::PassRemarks("codegen", "convert-buffers-to-addresses").did(getOperation(), [&] {
      return llvm::formatv("{0} reads of the running step become loads from its tables", count);
    });
  }

  // Replaces every argument by integers of 64 bits.
  static void convertSignature(func::FuncOp function) {
    Block &entry = function.front();
    Builder e(OpBuilder::atBlockBegin(&entry), function.getLoc());
    Type i64 = e.b.getI64Type();
    for (unsigned i = function.getNumArguments(); i-- > 0;) {
      Value old = entry.getArgument(i);
      MemRefType type = bufferType(old.getType());
      size_t count = type ? PassedBuffer(type).parts().size() : 1;
      SmallVector<Value> values;
      for (size_t part = 0; part < count; ++part)
        values.push_back(entry.insertArgument(i + 1 + part, i64, old.getLoc()));
      if (isa<kernel::StepType, talc::KvCacheType>(old.getType()))
        replaceAddress(old, values[0]);
      else if (old.getType() != i64)
        old.replaceAllUsesWith(old.getType().isIndex() ? e.toIndex(values[0]) : e.cast(values, old.getType()));
      entry.eraseArgument(i);
    }
    function.setType(FunctionType::get(function.getContext(), entry.getArgumentTypes(), {}));
  }

  // Reads of the step refer to addresses of arguments that had not been converted yet.
  static void replaceAddress(Value old, Value address) {
    for (Operation *user : llvm::make_early_inc_range(old.getUsers())) {
      user->replaceAllUsesWith(ValueRange{address});
      user->erase();
    }
  }

  static LogicalResult convertAccesses(func::FuncOp function) {
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      if (auto load = dyn_cast<memref::LoadOp>(op))
        return convertLoad(op, load.getMemRef(), load.getIndices());
      if (auto load = dyn_cast<vector::LoadOp>(op))
        return convertLoad(op, load.getBase(), load.getIndices());
      if (auto store = dyn_cast<memref::StoreOp>(op))
        return convertStore(op, store.getMemRef(), store.getIndices(), store.getValueToStore());
      if (auto store = dyn_cast<vector::StoreOp>(op))
        return convertStore(op, store.getBase(), store.getIndices(), store.getValueToStore());
      if (auto size = dyn_cast<memref::DimOp>(op))
        return convertSize(size);
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }

  static LogicalResult unknown(Operation *op) {
    return op->emitOpError("reads or writes a buffer that is not passed to the kernel");
  }

  // The type of loads and stores: bits for bf16, which not all GPUs know.
  static Type bitsOf(Type type) {
    if (!isa<BFloat16Type>(getElementTypeOrSelf(type)))
      return type;
    auto vector = dyn_cast<VectorType>(type);
    Type i16 = IntegerType::get(type.getContext(), 16);
    return vector ? Type(vector.clone(i16)) : i16;
  }

  static LogicalResult convertLoad(Operation *op, Value from, ValueRange at) {
    if (!bufferType(from.getType()))
      return success();
    Builder e(op);
    Buffer buffer(e, from);
    if (!buffer.isKnown())
      return unknown(op);
    Type wanted = op->getResult(0).getType(), type = wanted;
    if (auto vector = dyn_cast<VectorType>(type); vector && vector.getNumElements() == 1)
      type = vector.getElementType();
    Type bits = bitsOf(type);
    Value value = e.load(buffer.addressOf(at), bits);
    if (bits != type)
      value = arith::BitcastOp::create(e.b, e.loc, type, value);
    if (type != wanted)
      value = vector::BroadcastOp::create(e.b, e.loc, wanted, value);
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
    return success();
  }

  static LogicalResult convertStore(Operation *op, Value to, ValueRange at, Value value) {
    if (!bufferType(to.getType()))
      return success();
    Builder e(op);
    Buffer buffer(e, to);
    if (!buffer.isKnown())
      return unknown(op);
    if (Type bits = bitsOf(value.getType()); bits != value.getType())
      value = arith::BitcastOp::create(e.b, e.loc, bits, value);
    e.store(value, buffer.addressOf(at));
    op->erase();
    return success();
  }

  static LogicalResult convertSize(memref::DimOp op) {
    Builder e(op);
    Buffer buffer(e, op.getSource());
    std::optional<int64_t> dimension = getConstantIntValue(op.getIndex());
    if (!buffer.isKnown() || !dimension)
      return unknown(op);
    op.replaceAllUsesWith(e.toIndex(buffer.size(*dimension)));
    op->erase();
    return success();
  }
};

}  // namespace
