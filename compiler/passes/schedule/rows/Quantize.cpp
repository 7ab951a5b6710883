// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.quantize: the greatest magnitude of a block, its levels, and their sums; or numbers of bf16.
//
// A block is vectors of 32, whatever the lanes of the machine are, so that it is read once.
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowPieces.h"
#include "dialects/talc/formats/RoundedRows.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t together = 32;  // neighbours in a vector

class Quantize {
public:
  Quantize(Emitter &e, kernel::QuantizeOp op)
      : e(e), b(e.b), loc(e.loc), op(op), format(elementFormat(cast<ShapedType>(op.getInit().getType()))),
        bytes(e.bytes(op.getInit())), f32(b.getF32Type()), floats(VectorType::get({together}, f32)),
        integers(VectorType::get({together}, b.getI32Type())) {}

  void expandBlocks(Value row, Value joint);

private:
  void storeBlock(Value scale, Value inverse, ValueRange x, Value row, Value block);
  using StoreSums = void (Quantize::*)(ValueRange levels, Value row, Value block);
  // Of 32 levels, and of these and the first half what sums begin with.
  void storeBegins(ValueRange levels, Value row, Value block);
  // Of every 16 levels and of every 32.
  void storeDigits(ValueRange levels, Value row, Value block);
  struct Sums {
    std::string_view format;
    StoreSums store;
  };
  static constexpr Sums sums[] = {{"q8_sums", &Quantize::storeBegins},
                                  {"q8_256_sums", &Quantize::storeBegins},
                                  {"q8_k_sums", &Quantize::storeDigits}};

  Value greatest(ValueRange x);
  Value sum(Value levels, int64_t first, int64_t count) {
    auto places = llvm::to_vector(llvm::seq<int64_t>(first, first + count));
    Value part = vector::ShuffleOp::create(b, loc, levels, levels, places);
    return vector::ReductionOp::create(b, loc, vector::CombiningKind::ADD, part);
  }
  Value vectorOf(ValueRange integers) {
    auto type = VectorType::get({static_cast<int64_t>(integers.size())}, b.getI32Type());
    return vector::FromElementsOp::create(b, loc, type, integers);
  }
  Value number(double value) { return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value))); }
  Value constant(Value like, int32_t value) {
    return arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(cast<ShapedType>(like.getType()), value));
  }
  Value narrowed(Value numbers) {
    return arith::TruncIOp::create(b, loc, cast<VectorType>(numbers.getType()).clone(b.getI8Type()), numbers);
  }

  void store(Value scalar, Value row, Value block, int64_t offset) {
    storeWords(vector::BroadcastOp::create(b, loc, VectorType::get({1}, scalar.getType()), scalar), row, block, offset);
  }
  void storeWords(Value words, Value row, Value block, int64_t offset) {
    auto type = VectorType::get({4 * cast<VectorType>(words.getType()).getDimSize(0)}, b.getI8Type());
    storeBytes(vector::BitCastOp::create(b, loc, type, words), row, block, offset);
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

void Quantize::expandBlocks(Value row, Value joint) {
  Emitter::Values x;
  Value first = e.mul(joint, format.jointValues());
  for (int64_t i = 0; i < format.jointValues(); i += together)
    x.push_back(vector::LoadOp::create(b, loc, floats, op.getX(), ValueRange{row, e.add(first, i)}));
  Value most = greatest(x);
  // Neither the scale nor its inverse is infinite.
  Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, most, number(0x1p-120));
  most = arith::SelectOp::create(b, loc, isZero, number(0), most);
  Value inverse = arith::DivFOp::create(b, loc, number(127), most);
  inverse = arith::SelectOp::create(b, loc, isZero, number(0), inverse);
  Value scale = arith::DivFOp::create(b, loc, most, number(127));
  const auto vectors = static_cast<size_t>(format.blockValues / together);
  for (size_t i = 0; i < x.size(); i += vectors) {
    Value block = e.add(e.mul(joint, x.size() / vectors), i / vectors);
    storeBlock(scale, inverse, ValueRange(x).slice(i, vectors), row, block);
  }
}

void Quantize::storeBlock(Value scale, Value inverse, ValueRange x, Value row, Value block) {
  Emitter::Values levels;
  for (auto [i, values] : llvm::enumerate(x)) {
    Value scaled = arith::MulFOp::create(b, loc, values, vector::BroadcastOp::create(b, loc, floats, inverse));
    Value rounded = math::RoundEvenOp::create(b, loc, scaled);
    levels.push_back(arith::FPToSIOp::create(b, loc, integers, rounded));
    storeBytes(narrowed(levels.back()), row, block, format.fields.back().offset + static_cast<int64_t>(i) * together);
  }
  store(scale, row, block, format.fields[0].offset);
  const Sums *own = llvm::find_if(sums, [&](const Sums &known) { return known.format == format.name; });
  assert(own != std::end(sums) && "a format of rounded rows without sums");
  (this->*own->store)(levels, row, block);
}

// Magnitudes are ordered as their bits are, and what is no number stands above all.
Value Quantize::greatest(ValueRange x) {
  Value most;
  for (Value values : x) {
    Value magnitude = arith::BitcastOp::create(b, loc, integers, math::AbsFOp::create(b, loc, values));
    most = most ? arith::MaxUIOp::create(b, loc, most, magnitude) : magnitude;
  }
  most = vector::ReductionOp::create(b, loc, vector::CombiningKind::MAXUI, most);
  return arith::BitcastOp::create(b, loc, f32, most);
}

void Quantize::storeBegins(ValueRange levels, Value row, Value block) {
  Value first = sum(levels[0], 0, together / 2);
  Value all = arith::AddIOp::create(b, loc, first, sum(levels[0], together / 2, together / 2));
  store(arith::SIToFPOp::create(b, loc, f32, all), row, block, format.fields[1].offset);
  Value sums = vectorOf({all, first});
  storeWords(arith::MulIOp::create(b, loc, sums, constant(sums, -roundedZero)), row, block, format.fields[2].offset);
}

void Quantize::storeDigits(ValueRange levels, Value row, Value block) {
  Emitter::Values halves, pairs;
  for (Value of : levels) {
    halves.append({sum(of, 0, together / 2), sum(of, together / 2, together / 2)});
    pairs.push_back(arith::AddIOp::create(b, loc, halves.end()[-2], halves.back()));
  }
  Value begins = vectorOf(halves), all = vectorOf(pairs);
  storeWords(arith::MulIOp::create(b, loc, begins, constant(begins, -32)), row, block, format.fields[2].offset);
  Value seven = constant(all, 7);
  Value high = arith::ShRSIOp::create(b, loc, arith::AddIOp::create(b, loc, all, constant(all, 64)), seven);
  Value low = arith::SubIOp::create(b, loc, all, arith::ShLIOp::create(b, loc, high, seven));
  int64_t offset = format.fields[1].offset;
  storeBytes(narrowed(low), row, block, offset);
  storeBytes(narrowed(high), row, block, offset + static_cast<int64_t>(pairs.size()));
}

// Neighbours that make up whole rows: of masked stores of bf16 LLVM makes calls of a library.
void expandNumbers(Emitter &e, kernel::QuantizeOp op) {
  int64_t width = widthOf(op.getX());
  int64_t neighbours = std::min<int64_t>(width & -width, 16);
  auto floats = VectorType::get({neighbours}, e.b.getF32Type());
  eachRow(e, op, op.getX(), [&](Value row) {
    e.each(width / neighbours, [&](Value block) {
      Emitter::Values at = {row, e.mul(block, neighbours)};
      Value x = vector::LoadOp::create(e.b, e.loc, floats, op.getX(), at);
      Value rounded = arith::TruncFOp::create(e.b, e.loc, floats.clone(e.b.getBF16Type()), x);
      vector::StoreOp::create(e.b, e.loc, rounded, op.getInit(), at);
    });
  });
}

}  // namespace

void expandQuantize(Emitter &e, kernel::QuantizeOp op) {
  if (isa<FloatType>(cast<MemRefType>(op.getInit().getType()).getElementType()))
    return expandNumbers(e, op);
  int64_t values = elementFormat(cast<ShapedType>(op.getInit().getType())).jointValues();
  eachRow(e, op, op.getX(), [&](Value row) {
    e.each(widthOf(op.getX()) / values, [&](Value joint) { Quantize(e, op).expandBlocks(row, joint); });
  });
}

}  // namespace talc
