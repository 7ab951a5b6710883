// SPDX-License-Identifier: Apache-2.0
// The values that a buffer is passed as: its address, and its dynamic sizes, strides and offset.
#include "compiler/passes/codegen/PassedBuffer.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace mlir;

namespace talc {

MemRefType bufferType(Type type) {
  auto buffer = dyn_cast<MemRefType>(type);
  return buffer && buffer.isStrided() && !buffer.getMemorySpace() ? buffer : MemRefType();
}

PassedBuffer::PassedBuffer(MemRefType type) : type(type) {
  auto [strides, offset] = type.getStridesAndOffset();
  this->strides = strides;
  this->offset = offset;
}

SmallVector<PassedBuffer::Part> PassedBuffer::parts() const {
  SmallVector<Part> result = {{Field::address, 0}};
  if (ShapedType::isDynamic(offset))
    result.push_back({Field::offset, 0});
  for (unsigned i = 0; i < type.getRank(); ++i) {
    if (type.isDynamicDim(i))
      result.push_back({Field::size, i});
    if (ShapedType::isDynamic(strides[i]))
      result.push_back({Field::stride, i});
  }
  return result;
}

SmallVector<Type> PassedBuffer::types() const {
  SmallVector<Type> result(parts().size(), IntegerType::get(type.getContext(), 64));
  result.front() = LLVM::LLVMPointerType::get(type.getContext());
  return result;
}

SmallVector<Value> PassedBuffer::take(OpBuilder &b, Location loc, Value buffer, LLVMTypeConverter &converter) const {
  Type whole = converter.convertType(type);
  MemRefDescriptor from(UnrealizedConversionCastOp::create(b, loc, whole, buffer).getResult(0));
  SmallVector<Value> result;
  for (Part part : parts())
    switch (part.field) {
    case Field::address:
      result.push_back(from.alignedPtr(b, loc));
      break;
    case Field::offset:
      result.push_back(from.offset(b, loc));
      break;
    case Field::size:
      result.push_back(from.size(b, loc, part.dimension));
      break;
    case Field::stride:
      result.push_back(from.stride(b, loc, part.dimension));
      break;
    }
  return result;
}

Value PassedBuffer::build(OpBuilder &b, Location loc, ArrayRef<Value> values, LLVMTypeConverter &converter) const {
  auto constant = [&](int64_t value) -> Value { return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value); };
  auto next = [&](int64_t value) {
    if (!ShapedType::isDynamic(value))
      return constant(value);
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

}  // namespace talc
