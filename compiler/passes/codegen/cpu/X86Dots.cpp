// SPDX-License-Identifier: Apache-2.0
// Dot products of bytes in instructions of x86-64; and table lookups.
//
// The instructions take one unsigned operand. The sign of signed codes is moved to x, with vpsignb: |code| is at most
// 128 and |x| at most 127, so that sums of two products never saturate.
//
// Products of small codes are added as i16 as long as these cannot overflow, and then converted to i32 sums once:
//
//   codes up to 15, eight dot products      8 vpmaddubsw   7 vpaddw   1 vpmaddwd   1 vpaddd
//   one by one                              8 vpmaddubsw              8 vpmaddwd   8 vpaddd
#include "compiler/passes/codegen/cpu/Dots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;

namespace talc {

namespace {

struct Instructions {
  StringLiteral dot, bytes, words;  // vpdpbusd, vpmaddubsw, vpmaddwd
};

constexpr Instructions ofYmm = {"llvm.x86.avx512.vpdpbusd.256", "llvm.x86.avx2.pmadd.ub.sw", "llvm.x86.avx2.pmadd.wd"};
constexpr Instructions ofZmm = {"llvm.x86.avx512.vpdpbusd.512", "llvm.x86.avx512.pmaddubs.w.512",
                                "llvm.x86.avx512.pmaddw.d.512"};

class Dot {
public:
  // Operations are inserted before `place`.
  Dot(kernel::DotOp op, Operation *place)
      : op(op), b(place), loc(op.getLoc()), sums(cast<VectorType>(op.getType())), lanes(sums.getDimSize(0)),
        words(VectorType::get({2 * lanes}, b.getI16Type())), use(lanes == 16 ? ofZmm : ofYmm) {}

  explicit Dot(kernel::DotOp op) : Dot(op, op) {}

  Value byOne() { return call(use.dot, sums, {op.getSums(), codes(), x()}); }

  // Sums of two products as i16; for codes of seven bits they are at most 2 * 127 * 127.
  Value twos() { return call(use.bytes, words, {codes(), x()}); }
  Value plus(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value added(Value twos, Value sums) {
    return plus(sums, call(use.words, cast<VectorType>(sums.getType()), {twos, constant(1)}));
  }

  // The even bytes, and the odd bytes, as i16.
  Value byEight() {
    Value codes = vector::BitCastOp::create(b, loc, words, op.getCodes());
    Value x = vector::BitCastOp::create(b, loc, words, op.getX()), eight = constant(8);
    Value even = arith::AndIOp::create(b, loc, codes, constant(255));
    Value odd = arith::ShRUIOp::create(b, loc, codes, eight);
    Value evenX = arith::ShRSIOp::create(b, loc, arith::ShLIOp::create(b, loc, x, eight), eight);
    Value oddX = arith::ShRSIOp::create(b, loc, x, eight);
    Value sum = plus(op.getSums(), call(use.words, sums, {even, evenX}));
    return plus(sum, call(use.words, sums, {odd, oddX}));
  }

private:
  Value codes() {
    return op.getIsSigned() ? LLVM::AbsOp::create(b, loc, op.getCodes().getType(), op.getCodes(), false).getResult()
                            : op.getCodes();
  }
  Value x() {
    return op.getIsSigned() ? call("llvm.x86.avx2.psign.b", op.getX().getType(), {op.getX(), op.getCodes()})
                            : op.getX();
  }

  Value call(StringRef name, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands).getResults();
  }
  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(words, static_cast<int16_t>(value)));
  }

  kernel::DotOp op;
  OpBuilder b;
  const Location loc;
  const VectorType sums;
  const int64_t lanes;
  const VectorType words;
  const Instructions &use;
};

bool fits(kernel::DotOp dot) {
  int64_t lanes = cast<VectorType>(dot.getType()).getDimSize(0);
  return lanes == 8 || (lanes == 16 && !dot.getIsSigned());
}

}  // namespace

Value dotByVnni(ArrayRef<kernel::DotOp> dots) {
  return fits(dots.front()) ? Dot(dots.front()).byOne() : Value();
}

int64_t dotsTogether(kernel::DotOp dot) {
  constexpr int64_t ofWords = std::numeric_limits<int16_t>::max(), ofX = 127;
  bool small = !dot.getIsSigned() && dot.getMaxCode() <= 127;
  return small ? ofWords / (2 * dot.getMaxCode() * ofX) : 1;
}

// The point at which i16 sums are converted: where they are used, since the codes have left their registers by then.
static Operation *placeOfSums(ArrayRef<kernel::DotOp> dots) {
  constexpr size_t several = 4;
  kernel::DotOp last = dots.back();
  Operation *user = last->hasOneUse() ? *last->user_begin() : nullptr;
  bool waits = user && user->getBlock() == last->getBlock() && !isa<kernel::DotOp>(user) && dots.size() >= several;
  return waits ? user : last.getOperation();
}

Value dotsByBytes(ArrayRef<kernel::DotOp> dots) {
  kernel::DotOp first = dots.front();
  if (!fits(first))
    return {};
  if (first.getMaxCode() > 127)
    return Dot(first).byEight();
  Value twos;
  for (kernel::DotOp dot : dots) {
    Dot own(dot);
    twos = twos ? own.plus(twos, own.twos()) : own.twos();
  }
  return Dot(dots.back(), placeOfSums(dots)).added(twos, first.getSums());
}

// The shuffle looks indices up in the sixteen bytes of their own 128-bit lane.
Value lookUpByShuffle(kernel::TableLookupOp op) {
  auto type = cast<VectorType>(op.getType());
  int64_t bytes = type.getDimSize(0);
  if (bytes != 32 && bytes != 64)
    return {};
  OpBuilder b(op);
  SmallVector<int8_t> tables;
  while (static_cast<int64_t>(tables.size()) < bytes)
    tables.append(op.getTable().begin(), op.getTable().end());
  Value table = arith::ConstantOp::create(b, op.getLoc(), DenseElementsAttr::get<int8_t>(type, tables));
  StringRef name = bytes == 64 ? "llvm.x86.avx512.pshuf.b.512" : "llvm.x86.avx2.pshuf.b";
  return LLVM::CallIntrinsicOp::create(b, op.getLoc(), type, b.getStringAttr(name), {table, op.getIndices()})
      .getResults();
}

}  // namespace talc
