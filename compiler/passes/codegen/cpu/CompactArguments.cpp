// SPDX-License-Identifier: Apache-2.0
// compact-arguments: a buffer is passed as its address, and the sizes, strides and offset that its type does not tell.
//
//   func.call @kernel(%x) : (memref<?x64xf32>) -> ()   ->   func.call @kernel(%address, %rows) : (!llvm.ptr, i64) -> ()
//
// Upstream's convention passes seven values for this buffer; its bare pointers know no dynamic sizes.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_COMPACTARGUMENTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;

// Null for what is passed as upstream does: a layout without strides, another memory space.
static MemRefType bufferType(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.isStrided() && !buffer.getMemorySpace() ? buffer : MemRefType();
}

namespace {

// What is passed of a buffer: the address, the offset, and the size and stride of every dimension; known ones are left
// out.
class PassedBuffer {
public:
  PassedBuffer(MemRefType type, LLVMTypeConverter &converter) : type(type), converter(converter) {
    auto [strides, offset] = type.getStridesAndOffset();
    this->strides = strides;
    this->offset = offset;
  }

  SmallVector<Type> types() const {
    auto isDynamic = [](int64_t value) { return ShapedType::isDynamic(value); };
    int64_t unknown = isDynamic(offset) + type.getNumDynamicDims() + llvm::count_if(strides, isDynamic);
    Type i64 = IntegerType::get(type.getContext(), 64);
    SmallVector<Type> result(unknown + 1, i64);
    result.front() = LLVM::LLVMPointerType::get(type.getContext());
    return result;
  }

  // The values to pass of `buffer`.
  SmallVector<Value> take(OpBuilder &b, Location loc, Value buffer) const {
    Type whole = converter.convertType(type);
    MemRefDescriptor from(UnrealizedConversionCastOp::create(b, loc, whole, buffer).getResult(0));
    SmallVector<Value> result = {from.alignedPtr(b, loc)};
    if (ShapedType::isDynamic(offset))
      result.push_back(from.offset(b, loc));
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (type.isDynamicDim(i))
        result.push_back(from.size(b, loc, i));
      if (ShapedType::isDynamic(strides[i]))
        result.push_back(from.stride(b, loc, i));
    }
    return result;
  }

  // The buffer that `values` were taken of.
  Value build(OpBuilder &b, Location loc, ArrayRef<Value> values) const {
    auto known = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value); };
    auto next = [&](int64_t value) {
      if (!ShapedType::isDynamic(value))
        return known(value);
      values = values.drop_front();
      return values.front();
    };
    auto to = MemRefDescriptor::poison(b, loc, converter.convertType(type));
    to.setAllocatedPtr(b, loc, values.front());
    to.setAlignedPtr(b, loc, values.front());
    to.setOffset(b, loc, next(offset));
    for (int64_t i = 0; i < type.getRank(); ++i) {
      to.setSize(b, loc, i, next(type.getDimSize(i)));
      to.setStride(b, loc, i, next(strides[i]));
    }
    return UnrealizedConversionCastOp::create(b, loc, type, Value(to)).getResult(0);
  }

private:
  MemRefType type;
  LLVMTypeConverter &converter;
  SmallVector<int64_t> strides;
  int64_t offset;
};

struct CompactArguments : talc::impl::CompactArgumentsBase<CompactArguments> {
  void runOnOperation() override {
    LLVMTypeConverter converter(&getContext());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      convertArguments(function, converter);
      function.walk([&](func::CallOp call) { convertCall(call, converter); });
    }
  }

  // Replaces arguments from the last to the first, so that numbers of those before stay.
  void convertArguments(func::FuncOp function, LLVMTypeConverter &converter) {
    SmallVector<Type> types;
    for (Type type : function.getArgumentTypes())
      if (MemRefType buffer = bufferType(type))
        llvm::append_range(types, PassedBuffer(buffer, converter).types());
      else
        types.push_back(type);
    if (!function.isExternal())
      for (unsigned i = function.getNumArguments(); i-- > 0;)
        if (bufferType(function.getArgument(i).getType()))
          convertArgument(function.front(), i, converter);
    talc::PassRemarks("codegen", "compact-arguments").did(function, [&] {
      auto buffers = llvm::count_if(function.getArgumentTypes(), [](Type type) { return bufferType(type); });
      return llvm::formatv("{0} arguments, of which {1} are buffers, are passed as {2} values",
                           function.getFunctionType().getNumInputs(), buffers, types.size())
          .str();
    });
    function.setType(FunctionType::get(&getContext(), types, function.getResultTypes()));
  }

  void convertArgument(Block &entry, unsigned at, LLVMTypeConverter &converter) {
    Value old = entry.getArgument(at);
    PassedBuffer buffer(cast<MemRefType>(old.getType()), converter);
    SmallVector<Value> values;
    for (Type type : buffer.types())
      values.push_back(entry.insertArgument(at + 1 + values.size(), type, old.getLoc()));
    OpBuilder builder = OpBuilder::atBlockBegin(&entry);
    old.replaceAllUsesWith(buffer.build(builder, old.getLoc(), values));
    entry.eraseArgument(at);
  }

  void convertCall(func::CallOp call, LLVMTypeConverter &converter) {
    OpBuilder builder(call);
    SmallVector<Value> operands;
    for (Value operand : call.getOperands())
      if (MemRefType type = bufferType(operand.getType()))
        llvm::append_range(operands, PassedBuffer(type, converter).take(builder, call.getLoc(), operand));
      else
        operands.push_back(operand);
    call->setOperands(operands);
  }
};

}  // namespace
