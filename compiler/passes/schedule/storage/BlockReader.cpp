// SPDX-License-Identifier: Apache-2.0
// Loads fields of quant blocks as vectors.
#include "compiler/passes/schedule/storage/BlockReader.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/Endian.h"

using namespace mlir;

namespace talc {

BlockAddress blockAddress(Emitter &e, Value buffer, ValueRange at) {
  auto type = cast<MemRefType>(buffer.getType());
  const StorageFormat &format = elementFormat(type);
  int64_t lanes = getPanelLanes(type);
  Value k = at[1], block = e.div(k, format.blockValues), bytes = e.bytes(buffer);
  Emitter::Values outer;
  if (cast<MemRefType>(bytes.getType()).getRank() == 2)
    outer.push_back(at[0]);
  else
    block = e.add(e.mul(at[0], type.getDimSize(1) / format.blockValues), block);
  Value begin = e.mul(block, lanes * format.blockBytes);
  return {bytes, outer, begin, lanes, at.size() == 3 ? at[2] : e.index(0), e.rem(k, format.blockValues)};
}

BlockReader::BlockReader(Emitter &e, const StorageFormat &format, const BlockAddress &place, int64_t lanes)
    : e(e), lanes(lanes), place(place.value), format(format), inPanels(place.lanes > 1), block(place) {}

BlockReader::BlockReader(Emitter &e, Value buffer, ValueRange at, int64_t lanes)
    : BlockReader(e, elementFormat(cast<MemRefType>(buffer.getType())), blockAddress(e, buffer, at), lanes) {}

//===--- bytes --------------------------------------------------------------------------------------------------===//

Value BlockReader::signedBytes(int64_t field, Value byte, bool each) {
  return arith::ExtSIOp::create(e.b, e.loc, integers(), load(field, byte, each));
}

Value BlockReader::unsignedBytes(int64_t field, Value byte, bool each) {
  return arith::ExtUIOp::create(e.b, e.loc, integers(), load(field, byte, each));
}

Value BlockReader::words(int64_t field, Value word) {
  Value loaded = loadWords(field, 4 * lanes, block.wordIndices(e, format.fields[field], word));
  return vector::BitCastOp::create(e.b, e.loc, integers(), loaded);
}

Value BlockReader::number(int64_t field, FloatType type) {
  int64_t count = inPanels ? lanes : 1;
  Value word = loadWords(field, type.getWidth() / 8 * count, address(field, e.index(0)));
  word = vector::BitCastOp::create(e.b, e.loc, VectorType::get({count}, type), word);
  return spread(type.isF32() ? word
                             : arith::ExtFOp::create(e.b, e.loc, VectorType::get({count}, e.b.getF32Type()), word));
}

Value BlockReader::scalar(int64_t field, Value word) {
  return vector::ExtractOp::create(e.b, e.loc, scalars(field, word, 1), 0);
}

Value BlockReader::scalars(int64_t field, Value word, int64_t count) {
  Value loaded = loadWords(field, 4 * count, block.wordIndices(e, format.fields[field], word));
  return vector::BitCastOp::create(e.b, e.loc, VectorType::get({count}, e.b.getI32Type()), loaded);
}

// In panels, the words of a field of all lanes are adjacent.
Emitter::Values BlockReader::address(int64_t field, Value byte) {
  return block.byteIndices(e, format.fields[field], byte);
}

// Bytes of a word of four bytes are loaded with the word.
Value BlockReader::load(int64_t field, Value byte, bool each) {
  int64_t wordBytes = format.fields[field].wordBytes;
  if (!inPanels || wordBytes == 1 || lanes == 1)
    return spread(loadBytes(inPanels || each ? lanes : 1, address(field, byte)));
  Value shift = e.mul(e.rem(byte, wordBytes), 8);
  Value word = arith::ShRUIOp::create(e.b, e.loc, words(field, e.div(byte, wordBytes)), splat(shift));
  return arith::TruncIOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getI8Type()), word);
}

Value BlockReader::loadBytes(int64_t count, ValueRange at) {
  return vector::LoadOp::create(e.b, e.loc, VectorType::get({count}, e.b.getI8Type()), block.bytes, at);
}

// Loads bytes from the beginning of a word of the field on. Without the alignment, GPUs would load byte by byte.
Value BlockReader::loadWords(int64_t field, int64_t bytes, ValueRange at) {
  const llvm::MaybeAlign alignment(block.alignment(format.fields[field], format));
  auto type = VectorType::get({bytes}, e.b.getI8Type());
  return vector::LoadOp::create(e.b, e.loc, type, block.bytes, at, /*nontemporal=*/false, alignment);
}

// Broadcasts a single value to all lanes.
Value BlockReader::spread(Value vector) {
  auto type = cast<VectorType>(vector.getType());
  if (type.getDimSize(0) == lanes)
    return vector;
  Value scalar = vector::ExtractOp::create(e.b, e.loc, vector, 0);
  return vector::BroadcastOp::create(e.b, e.loc, VectorType::get({lanes}, type.getElementType()), scalar);
}

//===--- parts of bytes -----------------------------------------------------------------------------------------===//

Value BlockReader::groupedNibbles(int64_t field) {
  constexpr int64_t groupBytes = 8, groupValues = 2 * groupBytes;
  Value first = e.mul(e.div(place, groupValues), groupBytes), inGroup = e.rem(place, groupValues);
  if (inPanels || lanes <= groupBytes)
    return bits(unsignedBytes(field, e.add(first, e.rem(inGroup, groupBytes)), /*each=*/true),
                e.mul(e.div(inGroup, groupBytes), 4), 15);
  Value byte = loadBytes(groupBytes, address(field, first));
  SmallVector<int64_t> twice;
  SmallVector<int32_t> shifts;
  for (int64_t i = 0; i < lanes; ++i) {
    twice.push_back(i % groupBytes);
    shifts.push_back(i % groupValues < groupBytes ? 0 : 4);
  }
  byte = vector::ShuffleOp::create(e.b, e.loc, byte, byte, twice);
  Value wide = arith::ExtUIOp::create(e.b, e.loc, integers(), byte);
  Value by = arith::ConstantOp::create(e.b, e.loc, DenseIntElementsAttr::get(integers(), ArrayRef<int32_t>(shifts)));
  return mask(arith::ShRUIOp::create(e.b, e.loc, wide, by), 15);
}

Value BlockReader::bitOfEach(int64_t field) {
  if (inPanels)
    return bits(unsignedBytes(field, e.div(place, 8), /*each=*/false), e.rem(place, 8), 1);
  Value word = loadBytes(4, address(field, e.index(0)));
  word = spread(vector::BitCastOp::create(e.b, e.loc, VectorType::get({1}, e.b.getI32Type()), word));
  auto numbers = llvm::to_vector(llvm::seq<int32_t>(0, static_cast<int32_t>(lanes)));
  Value indices =
      arith::ConstantOp::create(e.b, e.loc, DenseIntElementsAttr::get(integers(), ArrayRef<int32_t>(numbers)));
  indices = arith::AddIOp::create(e.b, e.loc, indices, splat(place));
  return mask(arith::ShRUIOp::create(e.b, e.loc, word, indices), 1);
}

std::pair<Value, Value> BlockReader::groupScales(Value group) {
  Value isFirst = e.less(group, e.index(4));
  auto choose = [&](Value yes, Value no) { return arith::SelectOp::create(e.b, e.loc, isFirst, yes, no).getResult(); };
  auto byte = [&](Value word) { return unsignedBytes(2, word, /*each=*/false); };
  Value groupPlusFour = e.add(group, 4), lowest = choose(group, e.sub(group, e.min(group, e.index(4))));
  Value upper = choose(e.index(0), e.index(3)), shift = e.index(6);
  Value scale = mask(byte(choose(group, groupPlusFour)), choose(e.index(63), e.index(15)));
  scale = join(scale, mask(bits(byte(lowest), shift, 3), upper), 4);
  Value minimum = bits(byte(groupPlusFour), choose(e.index(0), e.index(4)), 63);
  minimum = join(minimum, mask(bits(byte(group), shift, 3), upper), 4);
  return {e.mulf(half(0), toFloat(scale)), e.mulf(half(1), toFloat(minimum))};
}

//===--- integers -----------------------------------------------------------------------------------------------===//

VectorType BlockReader::integers() {
  return VectorType::get({lanes}, e.b.getI32Type());
}

Value BlockReader::splat(Value number) {
  Value integer = arith::IndexCastOp::create(e.b, e.loc, e.b.getI32Type(), number);
  return vector::BroadcastOp::create(e.b, e.loc, integers(), integer);
}

Value BlockReader::bits(Value integer, Value shift, int64_t bitMask) {
  return mask(shiftRight(integer, shift), bitMask);
}
Value BlockReader::mask(Value integer, Value bitMask) {
  return arith::AndIOp::create(e.b, e.loc, integer, splat(bitMask));
}
Value BlockReader::join(Value low, Value high, int64_t shift) {
  high = arith::ShLIOp::create(e.b, e.loc, high, splat(e.index(shift)));
  return arith::OrIOp::create(e.b, e.loc, low, high);
}
Value BlockReader::minus(Value integer, Value by) {
  return arith::SubIOp::create(e.b, e.loc, integer, by);
}
Value BlockReader::plus(Value integer, Value by) {
  return arith::AddIOp::create(e.b, e.loc, integer, by);
}
Value BlockReader::maxUnsigned(Value x, Value y) {
  return arith::MaxUIOp::create(e.b, e.loc, x, y);
}
Value BlockReader::shiftLeft(Value integer, int64_t by) {
  return arith::ShLIOp::create(e.b, e.loc, integer, constant(by));
}
Value BlockReader::shiftRight(Value integer, int64_t by) {
  return arith::ShRUIOp::create(e.b, e.loc, integer, constant(by));
}
Value BlockReader::shiftRight(Value integer, Value by) {
  return arith::ShRUIOp::create(e.b, e.loc, integer, splat(by));
}
Value BlockReader::less(Value integer, int64_t by) {
  return minus(integer, splat(e.index(by)));
}
Value BlockReader::constant(int64_t value) {
  return arith::ConstantOp::create(e.b, e.loc, DenseIntElementsAttr::get(integers(), static_cast<int32_t>(value)));
}
Value BlockReader::factor(double value) {
  auto type = VectorType::get({lanes}, e.b.getF32Type());
  Attribute number = e.b.getF32FloatAttr(static_cast<float>(value));
  return arith::ConstantOp::create(e.b, e.loc, DenseElementsAttr::get(type, number));
}
Value BlockReader::as(Value vector, Type element) {
  return arith::BitcastOp::create(e.b, e.loc, VectorType::get({lanes}, element), vector);
}
Value BlockReader::fromHalves(Value integer) {
  Value word = arith::TruncIOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getI16Type()), integer);
  return arith::ExtFOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getF32Type()), as(word, e.b.getF16Type()));
}
Value BlockReader::toFloat(Value integer) {
  return arith::SIToFPOp::create(e.b, e.loc, VectorType::get({lanes}, e.b.getF32Type()), integer);
}

// The bits are those of an f16 except for the exponent's bias, which a product with a power of two corrects, also for
// subnormal numbers. The sign is in its place, and again in the bit after.
Value BlockReader::halfOfE4M3(Value code) {
  return fromHalves(mask(shiftLeft(code, 7), 0xbf80));
}

Value BlockReader::fromE4M3(Value code) {
  return e.mulf(halfOfE4M3(code), factor(e4m3Bias));
}

// The table is four words. Bits 2 and 3 of a code choose its word, the lower ones a byte of that. All targets have
// these operations on vectors.
Value BlockReader::lookUp(Value code, ArrayRef<int8_t> table) {
  auto wordOfTable = [&](int64_t i) { return int64_t(llvm::support::endian::read32le(table.data() + 4 * i)); };
  auto choose = [&](int64_t bit, Value unset, Value set) {
    Value isSet = minus(constant(0), bits(code, e.index(bit), 1));
    Value difference = arith::AndIOp::create(e.b, e.loc, arith::XOrIOp::create(e.b, e.loc, unset, set), isSet);
    return arith::XOrIOp::create(e.b, e.loc, unset, difference).getResult();
  };
  Value low = choose(2, constant(wordOfTable(0)), constant(wordOfTable(1)));
  Value high = choose(2, constant(wordOfTable(2)), constant(wordOfTable(3)));
  Value shift = shiftLeft(minus(constant(3), mask(code, 3)), 3);  // brings the byte to the top
  Value top = arith::ShLIOp::create(e.b, e.loc, choose(3, low, high), shift);
  return arith::ShRSIOp::create(e.b, e.loc, top, constant(24));
}

// The code is the exponent of an f32; 0 stands for the subnormal 2^-127.
Value BlockReader::fromE8M0(Value code) {
  return as(maxUnsigned(shiftLeft(code, 23), constant(1 << 22)), e.b.getF32Type());
}

}  // namespace talc
