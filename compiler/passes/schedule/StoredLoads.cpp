// SPDX-License-Identifier: Apache-2.0
// The table of loads: single numbers are widened; a format of blocks has a row of its own.
#include "compiler/passes/schedule/StoredLoads.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace talc {

static Type elementOf(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getElementType();
}

static Value loadNumbers(Emitter &e, Value buffer, ValueRange at, Value mask) {
  auto type = VectorType::get({e.lanes}, elementOf(buffer));
  Value vector;
  if (mask) {
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
    vector = vector::MaskedLoadOp::create(e.b, e.loc, type, buffer, at, mask, zero);
  } else {
    vector = vector::LoadOp::create(e.b, e.loc, type, buffer, at);
  }
  return elementOf(buffer).isF32() ? vector : arith::ExtFOp::create(e.b, e.loc, e.vectorType(), vector);
}

static Value loadNumber(Emitter &e, Value buffer, ValueRange at) {
  Value scalar = memref::LoadOp::create(e.b, e.loc, buffer, at);
  return isa<FloatType>(scalar.getType()) && !scalar.getType().isF32()
             ? arith::ExtFOp::create(e.b, e.loc, e.b.getF32Type(), scalar)
             : scalar;
}

namespace {

struct Row {
  std::string_view format;  // empty: any but those of blocks
  StoredLoads loads;
};

constexpr Row table[] = {{"", {loadNumbers, loadNumber}}};

}  // namespace

const StoredLoads &loadsOf(Value buffer) {
  auto stored = dyn_cast<StoredType>(elementOf(buffer));
  std::string_view name = stored ? stored.getFormat()->name : "";
  const Row *found = llvm::find_if(table, [&](const Row &row) { return row.format == name; });
  assert(found != std::end(table) && "a storage format that kernels cannot load");
  return found->loads;
}

}  // namespace talc
