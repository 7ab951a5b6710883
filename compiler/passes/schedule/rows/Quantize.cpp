// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.quantize: the greatest magnitude of a block, its levels, and their sums; or numbers of bf16.
//
// A block is a vector of its own, whatever the lanes of the machine are, so that it is read once.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowPieces.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

class Quantize {
public:
  Quantize(Emitter &e, kernel::QuantizeOp op)
      : e(e), b(e.b), loc(e.loc), op(op), format(elementFormat(cast<ShapedType>(op.getInit().getType()))),
        bytes(e.bytes(op.getInit())), f32(b.getF32Type()), floats(VectorType::get({format.blockValues}, f32)),
        integers(VectorType::get({format.blockValues}, b.getI32Type())) {}

  void expandBlock(Value row, Value block) {
    Value x = vector::LoadOp::create(b, loc, floats, op.getX(), ValueRange{row, e.mul(block, format.blockValues)});
    // Magnitudes are ordered as their bits are, and what is no number stands above all.
    Value magnitude = arith::BitcastOp::create(b, loc, integers, math::AbsFOp::create(b, loc, x));
    Value most = vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI, magnitude);
    most = arith::BitcastOp::create(b, loc, f32, most);
    // Neither the scale nor its inverse is infinite.
    Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, most, number(0x1p-120));
    most = arith::SelectOp::create(b, loc, isZero, number(0), most);
    Value inverse = arith::DivFOp::create(b, loc, number(127), most);
    inverse = arith::SelectOp::create(b, loc, isZero, number(0), inverse);
    Value scaled = arith::MulFOp::create(b, loc, x, vector::BroadcastOp::create(b, loc, floats, inverse));
    Value rounded = math::RoundEvenOp::create(b, loc, scaled);
    Value levels = arith::FPToSIOp::create(b, loc, integers, rounded);
    Value scale = arith::DivFOp::create(b, loc, most, number(127));
    store(scale, row, block, format.fields[0].offset);
    storeSums(scale, levels, row, block);
    storeBytes(arith::TruncIOp::create(b, loc, VectorType::get({format.blockValues}, b.getI8Type()), levels), row,
               block, format.fields[3].offset);
  }

private:
  // Of all levels, as a value and as an integer, and of the first half.
  void storeSums(Value scale, Value levels, Value row, Value block) {
    auto sum = [&](int64_t first) -> Value {
      auto places = llvm::to_vector(llvm::seq<int64_t>(first, first + format.blockValues / 2));
      Value half = vector::ShuffleOp::create(b, loc, levels, levels, places);
      return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, half);
    };
    Value first = sum(0), all = arith::AddIOp::create(b, loc, first, sum(format.blockValues / 2));
    store(arith::MulFOp::create(b, loc, arith::SIToFPOp::create(b, loc, f32, all), scale), row, block,
          format.fields[1].offset);
    store(all, row, block, format.fields[2].offset);
    store(first, row, block, format.fields[2].offset + 4);
  }

  Value number(double value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value))); }

  void store(Value scalar, Value row, Value block, int64_t offset) {
    Value word = vector::BroadcastOp::create(b, loc, VectorType::get({1}, scalar.getType()), scalar);
    storeBytes(vector::BitCastOp::create(b, loc, VectorType::get({4}, b.getI8Type()), word), row, block, offset);
  }

  void storeBytes(Value vector, Value row, Value block, int64_t offset) {
    Value byte = e.add(e.mul(block, format.blockBytes), offset);
    int64_t rowBytes = format.bytesOf(widthOf(op.getX()));
    bool byRows = cast<MemRefType>(bytes.getType()).getRank() == 2;
    Emitter::Values at = {row, byte};
    if (!byRows)
      at = {e.add(e.mul(row, rowBytes), byte)};
    vector::StoreOp::create(b, loc, vector, bytes, at);
  }

  Emitter &e;
  OpBuilder &b;
  const Location loc;
  kernel::QuantizeOp op;
  const StorageFormat &format;
  const Value bytes;
  const Type f32;
  const VectorType floats, integers;
};

// The upper halves of f32, to the nearest, ties to even. By integers: instructions for bf16 take subnormal numbers for
// zero, and processors without them call a library.
Value toBf16(OpBuilder &b, Location loc, Value x) {
  auto floats = cast<VectorType>(x.getType()), words = floats.clone(b.getI32Type());
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(words, value));
  };
  Value bits = arith::BitcastOp::create(b, loc, words, x);
  Value odd = arith::AndIOp::create(b, loc, arith::ShRUIOp::create(b, loc, bits, constant(16)), constant(1));
  Value above = arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, bits, constant(0x7fff)), odd);
  Value rounded = arith::ShRUIOp::create(b, loc, above, constant(16));
  // Of what is no number the addition may overflow.
  Value isNone = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x, x);
  rounded = arith::SelectOp::create(b, loc, isNone, constant(0x7fc0), rounded);
  Value halves = arith::TruncIOp::create(b, loc, floats.clone(b.getI16Type()), rounded);
  return arith::BitcastOp::create(b, loc, floats.clone(b.getBF16Type()), halves);
}

// Neighbours that make up whole rows: masked stores of bf16 would call a library, too.
void expandNumbers(Emitter &e, kernel::QuantizeOp op) {
  int64_t width = widthOf(op.getX());
  int64_t together = std::min<int64_t>(width & -width, 16);
  auto floats = VectorType::get({together}, e.b.getF32Type());
  eachRow(e, op, op.getX(), [&](Value row) {
    e.each(width / together, [&](Value block) {
      Emitter::Values at = {row, e.mul(block, together)};
      Value x = vector::LoadOp::create(e.b, e.loc, floats, op.getX(), at);
      vector::StoreOp::create(e.b, e.loc, toBf16(e.b, e.loc, x), op.getInit(), at);
    });
  });
}

}  // namespace

void expandQuantize(Emitter &e, kernel::QuantizeOp op) {
  if (isa<FloatType>(cast<MemRefType>(op.getInit().getType()).getElementType()))
    return expandNumbers(e, op);
  int64_t values = elementFormat(cast<ShapedType>(op.getInit().getType())).blockValues;
  eachRow(e, op, op.getX(), [&](Value row) {
    e.each(widthOf(op.getX()) / values, [&](Value block) { Quantize(e, op).expandBlock(row, block); });
  });
}

}  // namespace talc
