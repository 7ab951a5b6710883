// SPDX-License-Identifier: Apache-2.0
// Loads of float formats, which are converted to f32, and of quant blocks.
#include "compiler/passes/schedule/storage/LoadsAndStores.h"

#include "dialects/Invariant.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

static Type elementType(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType();
}

static Value loadNumbers(Emitter &e, Value buffer, ValueRange at, Value mask) {
  auto type = VectorType::get({e.lanes}, elementType(buffer));
  Value vector;
  if (mask) {
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
    vector = vector::MaskedLoadOp::create(e.b, e.loc, type, buffer, at, mask, zero);
  } else {
    vector = vector::LoadOp::create(e.b, e.loc, type, buffer, at);
  }
  return elementType(buffer).isF32() ? vector : arith::ExtFOp::create(e.b, e.loc, e.vectorType(), vector);
}

static Value loadNumber(Emitter &e, Value buffer, ValueRange at) {
  Value scalar = memref::LoadOp::create(e.b, e.loc, buffer, at);
  return isa<FloatType>(scalar.getType()) && !scalar.getType().isF32()
             ? arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), scalar)
             : scalar;
}

static constexpr FormatLoads numberLoads = {loadNumbers, loadNumber};

const FormatLoads &getLoads(Value buffer) {
  auto stored = dyn_cast<StoredType>(elementType(buffer));
  if (!stored)
    return numberLoads;
  const FormatLoads *loads = findDequantLoads(stored.getFormat()->name);
  require(loads, "kernels can load every storage format of a buffer");
  return *loads;
}

}  // namespace talc
