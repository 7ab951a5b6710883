// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.quantize: the greatest magnitude of a block, its codes, and their sums; or conversion to bf16.
//
// Values are in vectors of 32, whatever the register width of the machine, so that they are loaded once. Reductions are
// computed for several blocks at a time: two vectors are folded into one with the same number of lanes.
//
//   a0 a1 a2 a3   b0 b1 b2 b3    ->   a0+a2 a1+a3 b0+b2 b1+b3    ->   a0+a1+a2+a3 b0+b1+b2+b3
#include "compiler/passes/schedule/rows/RowLoops.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"
#include "dialects/Invariant.h"
#include "dialects/talc/formats/QuantizedActivations.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t vectorValues = 32;  // neighbors in a vector

class Quantize {
public:
  Quantize(Emitter &e, kernel::QuantizeOp op)
      : e(e), b(e.b), loc(e.loc), op(op), format(elementFormat(cast<ShapedType>(op.getInit().getType()))),
        bytes(e.bytes(op.getInit())), f32(b.getF32Type()), floats(VectorType::get({vectorValues}, f32)),
        integers(VectorType::get({vectorValues}, b.getI32Type())) {}

  void expandRow(Value row);

private:
  // Loads `vectors` vectors of x from the first value on.
  void expandValues(Value row, Value first, int64_t vectors);
  // Stores the codes of values whose scale has this inverse.
  Value storeCodes(Value x, Value inverse, Value row, Value offset);
  using StoreSums = void (Quantize::*)(ValueRange codes, Value row, Value block);
  // Stores the sums of every 32 codes, and the initial accumulators for them and for the first half.
  void storeInitialSums(ValueRange codes, Value row, Value block);
  // Stores the sums of every 16 codes and of every 32.
  void storeDigits(ValueRange codes, Value row, Value block);
  struct Sums {
    std::string_view format;
    StoreSums store;
  };
  static constexpr Sums sums[] = {{"q8_sums", &Quantize::storeInitialSums},
                                  {"q8_256_sums", &Quantize::storeInitialSums},
                                  {"q8_k_sums", &Quantize::storeDigits}};

  Value greatest(ValueRange x, int64_t vectorsPerJoint);
  using Combine = llvm::function_ref<Value(Value, Value)>;
  Value reduce(Emitter::Values vectors, int64_t each, Combine combine);
  Value reduceSums(ValueRange codes, int64_t each) {
    return reduce(Emitter::Values(codes), each,
                  [&](Value x, Value y) { return arith::AddIOp::create(b, loc, x, y).getResult(); });
  }

  static int64_t laneCount(Value vector) { return cast<VectorType>(vector.getType()).getDimSize(0); }
  Value constant(Value like, int32_t value) {
    return arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(cast<ShapedType>(like.getType()), value));
  }
  Value number(Value like, double value) {
    auto constant = DenseFPElementsAttr::get(cast<ShapedType>(like.getType()), static_cast<float>(value));
    return arith::ConstantOp::create(b, loc, constant);
  }
  Value truncateToBytes(Value numbers) {
    return arith::TruncIOp::create(b, loc, cast<VectorType>(numbers.getType()).clone(b.getI8Type()), numbers);
  }
  Value lanes(Value vector, int64_t first, int64_t count) {
    auto indices = llvm::to_vector(llvm::seq<int64_t>(first, first + count));
    return vector::ShuffleOp::create(b, loc, vector, vector, indices);
  }

  Value fieldOffset(Value block, int64_t field) {
    return e.add(e.mul(block, format.blockBytes), format.fields[field].offset);
  }
  void storeWords(Value words, Value row, Value offset) {
    auto type = VectorType::get({4 * laneCount(words)}, b.getI8Type());
    storeBytes(vector::BitCastOp::create(b, loc, type, words), row, offset);
  }
  void storeBytes(Value vector, Value row, Value offset) {
    int64_t rowBytes = format.byteSize(rowWidth(op.getX()));
    bool byRows = cast<MemRefType>(bytes.getType()).getRank() == 2;
    Emitter::Values at = {row, offset};
    if (!byRows)
      at = {e.add(e.mul(row, rowBytes), offset)};
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

// Blocks with separate scales are quantized four at a time, if there are enough.
void Quantize::expandRow(Value row) {
  constexpr int64_t maxVectors = 4;
  const int64_t width = rowWidth(op.getX()), joint = format.jointValues();
  const int64_t values = std::max(joint, maxVectors * vectorValues), wholeWidth = width / values * values;
  auto expand = [&](int64_t from, int64_t to, int64_t step) {
    e.loop(e.index(from), e.index(to), step, [&](Value first) { expandValues(row, first, step / vectorValues); });
  };
  expand(0, wholeWidth, values);
  if (wholeWidth < width)
    expand(wholeWidth, width, joint);
}

void Quantize::expandValues(Value row, Value first, int64_t vectors) {
  Emitter::Values x, codes;
  for (int64_t i = 0; i < vectors; ++i)
    x.push_back(vector::LoadOp::create(b, loc, floats, op.getX(), ValueRange{row, e.add(first, i * vectorValues)}));
  const int64_t vectorsPerJoint = format.jointValues() / vectorValues,
                vectorsPerBlock = format.blockValues / vectorValues;
  Value maxima = greatest(x, vectorsPerJoint);
  // Neither the scale nor its inverse is infinite.
  Value isZero = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, maxima, number(maxima, 0x1p-120));
  Value zero = number(maxima, 0), maxCode = number(maxima, 127);
  maxima = arith::SelectOp::create(b, loc, isZero, zero, maxima);
  Value inverses = arith::DivFOp::create(b, loc, maxCode, maxima);
  inverses = arith::SelectOp::create(b, loc, isZero, zero, inverses);
  Value scales = arith::DivFOp::create(b, loc, maxima, maxCode);
  Value firstBlock = e.div(first, format.blockValues);
  for (int64_t i = 0; i < vectors; ++i) {
    Value block = e.add(firstBlock, i / vectorsPerBlock);
    Value offset =
        e.add(fieldOffset(block, static_cast<int64_t>(format.fields.size()) - 1), i % vectorsPerBlock * vectorValues);
    codes.push_back(storeCodes(x[i], e.lane(inverses, i / vectorsPerJoint), row, offset));
    if (i % vectorsPerBlock == 0)
      storeWords(lanes(scales, i / vectorsPerJoint, 1), row, fieldOffset(block, 0));
  }
  const Sums *match = llvm::find_if(sums, [&](const Sums &entry) { return entry.format == format.name; });
  require(match != std::end(sums), "every format of quantized activations has sums");
  (this->*match->store)(codes, row, firstBlock);
}

Value Quantize::storeCodes(Value x, Value inverse, Value row, Value offset) {
  Value scaled = arith::MulFOp::create(b, loc, x, vector::BroadcastOp::create(b, loc, floats, inverse));
  Value codes = arith::FPToSIOp::create(b, loc, integers, math::RoundEvenOp::create(b, loc, scaled));
  storeBytes(truncateToBytes(codes), row, offset);
  return codes;
}

// The greatest magnitude of values that share a scale. Magnitudes are compared by their bits, by which NaN is the
// greatest.
Value Quantize::greatest(ValueRange x, int64_t vectorsPerJoint) {
  auto larger = [&](Value x, Value y) { return arith::MaxUIOp::create(b, loc, x, y).getResult(); };
  Emitter::Values maxima;
  for (auto [i, values] : llvm::enumerate(x)) {
    Value magnitudes = arith::BitcastOp::create(b, loc, integers, math::AbsFOp::create(b, loc, values));
    if (static_cast<int64_t>(i) % vectorsPerJoint == 0)
      maxima.push_back(magnitudes);
    else
      maxima.back() = larger(maxima.back(), magnitudes);
  }
  Value reduced = reduce(maxima, vectorValues, larger);
  return arith::BitcastOp::create(b, loc, VectorType::get({laneCount(reduced)}, f32), reduced);
}

// Reduces every `each` lanes of the vectors; the results are adjacent lanes of one vector. The number of vectors is a
// power of two, at most `each`.
Value Quantize::reduce(Emitter::Values vectors, int64_t each, Combine combine) {
  for (; each > 1; each /= 2) {
    const size_t used = std::min<size_t>(vectors.size(), 2);
    SmallVector<int64_t> halves[2];
    for (int64_t lane = 0; lane < static_cast<int64_t>(used) * laneCount(vectors[0]); ++lane)
      halves[lane % each / (each / 2)].push_back(lane);
    Emitter::Values next;
    for (size_t i = 0; i < vectors.size(); i += used) {
      auto half = [&](int64_t number) {
        return vector::ShuffleOp::create(b, loc, vectors[i], vectors[i + used - 1], halves[number]).getResult();
      };
      next.push_back(combine(half(0), half(1)));
    }
    vectors = next;
  }
  return vectors.front();
}

void Quantize::storeInitialSums(ValueRange codes, Value row, Value block) {
  Value halves = reduceSums(codes, vectorValues / 2), all = reduceSums(halves, 2);
  const int64_t blocks = laneCount(all);
  SmallVector<int64_t> pairs;
  for (int64_t i = 0; i < blocks; ++i)
    pairs.append({i, blocks + 2 * i});
  Value begins = vector::ShuffleOp::create(b, loc, all, halves, pairs);
  begins = arith::MulIOp::create(b, loc, begins, constant(begins, -foldedZeroPoint));
  Value numbers = arith::SIToFPOp::create(b, loc, VectorType::get({blocks}, f32), all);
  for (int64_t i = 0; i < blocks; ++i) {
    storeWords(lanes(numbers, i, 1), row, fieldOffset(e.add(block, i), 1));
    storeWords(lanes(begins, 2 * i, 2), row, fieldOffset(e.add(block, i), 2));
  }
}

void Quantize::storeDigits(ValueRange codes, Value row, Value block) {
  Value halves = reduceSums(codes, vectorValues / 2), all = reduceSums(halves, 2);
  storeWords(arith::MulIOp::create(b, loc, halves, constant(halves, -32)), row, fieldOffset(block, 2));
  Value seven = constant(all, 7);
  Value high = arith::ShRSIOp::create(b, loc, arith::AddIOp::create(b, loc, all, constant(all, 64)), seven);
  Value low = arith::SubIOp::create(b, loc, all, arith::ShLIOp::create(b, loc, high, seven));
  storeBytes(truncateToBytes(low), row, fieldOffset(block, 1));
  storeBytes(truncateToBytes(high), row, e.add(fieldOffset(block, 1), laneCount(all)));
}

// Vectors that divide rows evenly, since LLVM converts masked stores of bf16 to library calls.
void expandNumbers(Emitter &e, kernel::QuantizeOp op) {
  int64_t width = rowWidth(op.getX());
  int64_t neighbors = std::min<int64_t>(width & -width, 16);
  auto floats = VectorType::get({neighbors}, e.b.getF32Type());
  eachRow(e, op, op.getX(), [&](Value row) {
    e.each(width / neighbors, [&](Value block) {
      Emitter::Values at = {row, e.mul(block, neighbors)};
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
  eachRow(e, op, op.getX(), [&](Value row) { Quantize(e, op).expandRow(row); });
}

}  // namespace talc
