// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in instructions of 64-bit ARM, for signed codes and codes of seven bits; and table lookups.
//
//   codes    a b c d  e f g h | i j k l  m n o p           four lanes; x likewise
//   smull    a b c d  e f g h                              products of the lower half, as i16
//   smull2                      i j k l  m n o p           products of the upper half
//   addp     ab cd ef gh        ij kl mn op                sums of two products: at most 2 * 128 * 127
//   sadalp   abcd  efgh         ijkl  mnop                 pairs added to the i32 sums
#include "compiler/passes/codegen/cpu/Dots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace talc {

static bool fits(kernel::DotOp dot) {
  return cast<VectorType>(dot.getType()).getDimSize(0) == 4 && dot.getMaxCode() <= 127;
}

static Value call(OpBuilder &b, Location loc, StringRef name, Type type, ValueRange operands) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResults();
}

Value dotByNeonDots(ArrayRef<kernel::DotOp> dots) {
  kernel::DotOp dot = dots.front();
  if (!fits(dot))
    return {};
  OpBuilder b(dot);
  return call(b, dot.getLoc(), "llvm.aarch64.neon.sdot.v4i32.v16i8", dot.getType(),
              {dot.getSums(), dot.getCodes(), dot.getX()});
}

Value dotByNeon(ArrayRef<kernel::DotOp> dots) {
  kernel::DotOp dot = dots.front();
  if (!fits(dot))
    return {};
  OpBuilder b(dot);
  Location loc = dot.getLoc();
  auto words = VectorType::get({8}, b.getI16Type());
  auto half = [&](Value bytes, int64_t first) -> Value {
    auto places = llvm::to_vector(llvm::seq(first, first + 8));
    return arith::ExtSIOp::create(b, loc, words, vector::ShuffleOp::create(b, loc, bytes, bytes, places));
  };
  auto products = [&](int64_t first) -> Value {
    return arith::MulIOp::create(b, loc, half(dot.getCodes(), first), half(dot.getX(), first));
  };
  Value twos = call(b, loc, "llvm.aarch64.neon.addp.v8i16", words, {products(0), products(8)});
  Value fours = call(b, loc, "llvm.aarch64.neon.saddlp.v4i32.v8i16", dot.getType(), twos);
  return arith::AddIOp::create(b, loc, dot.getSums(), fours);
}

Value lookUpByNeon(kernel::TableLookupOp op) {
  auto type = cast<VectorType>(op.getType());
  if (type.getDimSize(0) != 16)
    return {};
  OpBuilder b(op);
  Value table = arith::ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get<int8_t>(type, op.getTable()));
  return call(b, op.getLoc(), "llvm.aarch64.neon.tbl1.v16i8", type, {table, op.getIndices()});
}

}  // namespace talc
