// SPDX-License-Identifier: Apache-2.0
// Reads of the running step that the conversions to LLVM share.
#include "compiler/passes/codegen/StepReader.h"

#include "dialects/talc/ModuleKeys.h"

#include "mlir/Conversion/LLVMCommon/MemRefBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace talc {

Value StepReader::buffer(MemRefType type, Value address, Value rows) {
  auto descriptor = MemRefDescriptor::poison(b, loc, converter.convertType(type));
  descriptor.setAllocatedPtr(b, loc, address);
  descriptor.setAlignedPtr(b, loc, address);
  descriptor.setConstantOffset(b, loc, 0);
  int64_t stride = 1;
  for (int64_t i = type.getRank() - 1; i >= 0; --i) {
    descriptor.setConstantStride(b, loc, i, stride);
    if (type.isDynamicDim(i)) {
      descriptor.setSize(b, loc, i, rows);
      continue;
    }
    descriptor.setConstantSize(b, loc, i, type.getDimSize(i));
    stride *= type.getDimSize(i);
  }
  return cast(Value(descriptor), type);
}

Value StepReader::byteBuffer(kernel::BytesOp op) {
  if (op.getBuffer().getType() == op.getType())
    return op.getBuffer();
  MemRefDescriptor from(cast(op.getBuffer(), converter.convertType(op.getBuffer().getType())));
  return buffer(llvm::cast<MemRefType>(op.getType()), from.alignedPtr(b, loc));
}

Value StepReader::bytesFrom(Value base, Value offset) {
  return LLVM::GEPOp::create(b, loc, pointer(), b.getI8Type(), base, ValueRange{offset});
}

Value StepReader::integerAt(Value base, Value offset) {
  Value value = LLVM::LoadOp::create(b, loc, b.getI32Type(), bytesFrom(base, offset));
  return LLVM::SExtOp::create(b, loc, b.getI64Type(), value);
}

int64_t StepReader::getOffset(FlatSymbolRefAttr symbol) {
  return module.lookupSymbol(symbol.getAttr())->getAttrOfType<IntegerAttr>(offsetAttr).getInt();
}

int64_t StepReader::storedWeightBytes() {
  auto plan = module->getAttrOfType<DictionaryAttr>(planAttr);
  auto read = [&](StringRef key) {
    auto bytes = plan ? plan.getAs<IntegerAttr>(key) : IntegerAttr();
    return bytes ? bytes.getInt() : 0;
  };
  int64_t tables = read(planKeys::tableBytes);
  return tables > 0 ? read(planKeys::weightBytes) - tables : std::numeric_limits<int64_t>::max();
}

int64_t StepReader::slotBytes() {
  return llvm::cast<IntegerAttr>(module->getAttrOfType<DictionaryAttr>(planAttr).get(slotBytesKey)).getInt();
}

Type StepReader::pointer() {
  return LLVM::LLVMPointerType::get(b.getContext());
}
Value StepReader::constant(int64_t value) {
  return LLVM::ConstantOp::create(b, loc, b.getI64Type(), value);
}
Value StepReader::add(Value x, Value y) {
  return LLVM::AddOp::create(b, loc, x, y);
}
Value StepReader::mul(Value x, Value y) {
  return LLVM::MulOp::create(b, loc, x, y);
}
Value StepReader::toIndex(Value i64) {
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), i64);
}
Value StepReader::toI64(Value index) {
  return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
}
Value StepReader::cast(Value value, Type type) {
  return value.getType() == type ? value : UnrealizedConversionCastOp::create(b, loc, type, value).getResult(0);
}

LogicalResult checkComputeOps(ModuleOp module) {
  WalkResult result =
      module.walk([](kernel::ComputeOpInterface op) -> WalkResult { return op->emitOpError("has no loops"); });
  return failure(result.wasInterrupted());
}

void convertBlockBuffers(ModuleOp module) {
  AttrTypeReplacer replacer;
  replacer.addReplacement([](MemRefType type) -> std::optional<Type> {
    if (!isa<StoredType>(type.getElementType()))
      return std::nullopt;
    return kernel::bytesType(type);
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true, /*replaceLocs=*/false, /*replaceTypes=*/true);
}

}  // namespace talc
