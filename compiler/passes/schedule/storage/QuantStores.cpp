// SPDX-License-Identifier: Apache-2.0
// Stores of float formats, which are converted from f32, and of quant blocks.
#include "compiler/passes/schedule/storage/LoadsAndStores.h"

#include "dialects/Invariant.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

#include <limits>

using namespace mlir;

namespace talc {

//===--- float formats ------------------------------------------------------------------------------------------===//

Value convertToElement(Emitter &e, Value value, Value buffer) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  if (!getElementTypeOrSelf(value).isF32() || element.isF32())
    return value;
  auto vector = dyn_cast<VectorType>(value.getType());
  Type narrow = vector ? Type(vector.clone(element)) : element;
  return arith::TruncFOp::create(e.b, e.loc, narrow, value);
}

//===--- quant blocks
//-------------------------------------------------------------------------------------------------===//

namespace {

// For each field the vectors of its words, in order.
using Words = SmallVector<Emitter::Values>;

Value slice(Emitter &e, Value vector, int64_t first, int64_t count) {
  return vector::ShuffleOp::create(e.b, e.loc, vector, vector, llvm::to_vector(llvm::seq(first, first + count)));
}

// Rounds to the nearest int8, ties away from zero, in exact operations.
Value roundToBytes(Emitter &e, Value x) {
  Type integers = e.vectorOf(e.b.getI32Type());
  Value integer = arith::FPToSIOp::create(e.b, e.loc, integers, x);
  Value rest = e.subf(x, arith::SIToFPOp::create(e.b, e.loc, x.getType(), integer));
  auto oneWhere = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    Value holds = arith::CmpFOp::create(e.b, e.loc, predicate, rest, e.splat(bound));
    return arith::ExtUIOp::create(e.b, e.loc, integers, holds);
  };
  integer = arith::AddIOp::create(e.b, e.loc, integer, oneWhere(arith::CmpFPredicate::OGE, 0.5));
  integer = arith::SubIOp::create(e.b, e.loc, integer, oneWhere(arith::CmpFPredicate::OLE, -0.5));
  return arith::TruncIOp::create(e.b, e.loc, e.vectorOf(e.b.getI8Type()), integer);
}

// q8_0: d = greatest magnitude / 127, codes x / d. A NaN makes the whole block NaN.
Value largerMagnitude(Emitter &e, Value greatest, Value x) {
  return arith::MaximumFOp::create(e.b, e.loc, greatest, math::AbsFOp::create(e.b, e.loc, x));
}

// d and 1 / d.
std::pair<Value, Value> scaleOfQ8_0(Emitter &e, Value greatest) {
  Value scale = e.divf(e.broadcast(greatest), e.splat(127)), inverse = e.divf(e.splat(1), scale);
  // A number so small that its inverse is infinite counts as zero.
  Value finite =
      arith::CmpFOp::create(e.b, e.loc, arith::CmpFPredicate::OLE, inverse, e.splat(std::numeric_limits<float>::max()));
  return {scale, e.select(finite, inverse, e.splat(0))};
}

Words encodeQ8_0(Emitter &e, ValueRange values) {
  Value greatest = e.splat(0);
  for (Value x : values)
    greatest = largerMagnitude(e, greatest, x);
  greatest = vector::ReductionOp::create(e.b, e.loc, vector::CombiningKind::MAXIMUMF, greatest);
  auto [scale, inverse] = scaleOfQ8_0(e, greatest);
  Value half = slice(e, scale, 0, 1);
  half = arith::TruncFOp::create(e.b, e.loc, VectorType::get({1}, e.b.getF16Type()), half);
  Value bytes = vector::BitCastOp::create(e.b, e.loc, VectorType::get({2}, e.b.getI8Type()), half);
  Words words = {{bytes}, {}};
  for (Value x : values)
    words[1].push_back(roundToBytes(e, e.mulf(x, inverse)));
  return words;
}

// Stores an f16 as the bytes of a field in a single store: if they are stored one by one, ptxas 13.0 mistakes the store
// of the lower byte for a conversion.
void storeHalf(Emitter &e, const StorageFormat &format, const BlockAddress &place, int64_t fieldNumber, Value half) {
  const BlockField &field = format.fields[fieldNumber];
  Value number = vector::BroadcastOp::create(e.b, e.loc, VectorType::get({1}, half.getType()), half);
  Value bytes = vector::BitCastOp::create(e.b, e.loc, VectorType::get({2}, e.b.getI8Type()), number);
  vector::StoreOp::create(e.b, e.loc, bytes, place.bytes, place.byteIndices(e, field, e.index(0)),
                          /*nontemporal=*/false, llvm::MaybeAlign(place.alignment(field, format)));
}

void storeQ8_0(Emitter &e, const StorageFormat &format, const BlockAddress &place, ValueOf value) {
  Value begin = e.index(0), end = e.index(format.blockValues);
  Value greatest = e.loop(begin, end, 1, {e.splat(0)}, [&](Value i, ValueRange before) -> Emitter::Values {
    return {largerMagnitude(e, before[0], value(i))};
  })[0];
  auto [scale, inverse] = scaleOfQ8_0(e, greatest);
  storeHalf(e, format, place, /*fieldNumber=*/0, arith::TruncFOp::create(e.b, e.loc, e.b.getF16Type(), scale));
  e.loop(begin, end, 1, [&, inverse = inverse](Value i) {
    Value code = roundToBytes(e, e.mulf(value(i), inverse));
    e.storeScalar(code, place.bytes, place.byteIndices(e, format.fields[1], i));
  });
}

// Encodes vectors, or value by value where a lane is a thread.
struct Encoder {
  std::string_view format;
  Words (*encode)(Emitter &e, ValueRange values);
  void (*store)(Emitter &e, const StorageFormat &format, const BlockAddress &place, ValueOf value);
};

constexpr Encoder encoders[] = {{"q8_0", encodeQ8_0, storeQ8_0}};

const Encoder &getEncoder(const StorageFormat &format) {
  auto encoder = llvm::find_if(encoders, [&](const Encoder &known) { return known.format == format.name; });
  require(encoder != std::end(encoders), "the storage format is one for KV caches");
  return *encoder;
}

}  // namespace

// With one lane, the words of a field are adjacent; with several lanes they are not.
static void storeWords(Emitter &e, const BlockAddress &place, const BlockField &field, Value bytes, int64_t firstWord) {
  int64_t count = cast<VectorType>(bytes.getType()).getNumElements(),
          together = place.lanes == 1 ? count : field.wordBytes;
  for (int64_t first = 0; first < count; first += together) {
    Value words = slice(e, bytes, first, together);
    Value word = e.index(firstWord + first / field.wordBytes);
    vector::StoreOp::create(e.b, e.loc, words, place.bytes, place.wordIndices(e, field, word));
  }
}

void storeQuantBlock(Emitter &e, const StorageFormat &format, const BlockAddress &place, ValueRange values) {
  for (auto [field, vectors] : llvm::zip_equal(format.fields, getEncoder(format).encode(e, values))) {
    int64_t word = 0;
    for (Value bytes : vectors) {
      storeWords(e, place, field, bytes, word);
      word += cast<VectorType>(bytes.getType()).getNumElements() / field.wordBytes;
    }
  }
}

void storeQuantBlockByThread(Emitter &e, const StorageFormat &format, const BlockAddress &place, ValueOf value) {
  getEncoder(format).store(e, format, place, value);
}

}  // namespace talc
