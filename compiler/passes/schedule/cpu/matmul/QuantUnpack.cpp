// SPDX-License-Identifier: Apache-2.0
// Codes and scales of the formats of dialects/talc/formats that are integers times scales.
//
// Codes are bytes; those of fewer than eight bits have no sign, as dot products want one of their operands. Halves of
// bytes are unpacked for four lanes at once: a mask removes what a shift brings to the next byte.
#include "compiler/passes/schedule/cpu/matmul/QuantUnpack.h"

#include "dialects/kernel/ByteOps.h"
#include "dialects/talc/formats/Iq4Values.h"

using namespace mlir;

namespace talc {

namespace {

// The word-th word of four values from the reader's place on, of a field in which four values have a word of their own.
Value loadWord(BlockReader &r, int64_t field, int64_t word) {
  return r.words(field, r.e.add(r.e.div(r.place, 4), word));
}

// (word >> shift) & 0x0f0f0f0f
Value unpackNibbles(BlockReader &r, Value word, Value shift) {
  return r.bits(word, shift, 0x0f0f0f0f);
}

GroupScales scaleF16(BlockReader &r, int64_t) {
  return {r.half(0), {}};
}

GroupScales scaleAndOffsetF16(BlockReader &r, int64_t) {
  return {r.half(0), r.half(1)};
}

//===--- blocks of 32 -------------------------------------------------------------------------------------------===//

Value codesQ8_0(BlockReader &r, int64_t word, int64_t) {
  return loadWord(r, 1, word);
}

// The lower halves of four words, then the upper ones.
template <int64_t field> Value nibbles(BlockReader &r, int64_t word, int64_t) {
  return unpackNibbles(r, r.words(field, r.e.index(word % 4)), r.e.index(word / 4 * 4));
}

// Brings four bits each to the fifth place of its byte.
//
//   0000 0000  0000 0000  0000 0000  0000 dcba   *   0x02040810   =   000d cba0  00dc ba00  0dcb a000  dcba 0000
//
// with the bits at 28, 20, 12 and 4 in their places.
Value fifthBitsByProduct(BlockReader &r, Value bits, int64_t word) {
  Value wordBits = r.bits(bits, r.e.index(4 * word), 15);
  return arith::MulIOp::create(r.e.b, r.e.loc, wordBits, r.constant(0x02040810));
}

// Exchanges the bits of `lower` with those `distance` above.
Value exchangeBits(BlockReader &r, Value bits, int64_t distance, int64_t lower) {
  auto xorOf = [&](Value x, Value y) { return arith::XOrIOp::create(r.e.b, r.e.loc, x, y).getResult(); };
  Value change = r.mask(xorOf(r.shiftRight(bits, distance), bits), lower);
  return xorOf(xorOf(bits, change), r.shiftLeft(change, distance));
}

// The same without a product: once for all words, bits are exchanged so that each byte has its own bits of all words.
//
//   place   4  3  2  1  0        w: bits of a word's index, i: of a value's index in it
//   before  w2 w1 w0 i1 i0
//   after   i1 i0 w0 w2 w1
Value fifthBitsByShift(BlockReader &r, Value bits, int64_t word) {
  constexpr int64_t fifth = 4;
  bits = exchangeBits(r, exchangeBits(r, bits, 14, 0x0000cccc), 7, 0x00aa00aa);
  int64_t place = word % 2 * 4 + word / 4 * 2 + word / 2 % 2;
  return place > fifth ? r.shiftRight(bits, place - fifth) : r.shiftLeft(bits, fifth - place);
}

// Dot products of more than a few rows keep the units that multiply busy. With ternary logic, exchanging bits takes few
// enough instructions.
bool avoidsProducts(const IsaTraits &traits, int64_t rows) {
  constexpr int64_t maxRows = 2;
  return traits.ternaryLogic && rows > maxRows;
}

template <int64_t field> Value nibblesAndFifthBits(BlockReader &r, int64_t word, int64_t rows) {
  Value bits = r.words(field, r.e.index(0));
  Value placed = avoidsProducts(r.e.traits, rows) ? fifthBitsByShift(r, bits, word) : fifthBitsByProduct(r, bits, word);
  Value fifth = r.mask(placed, 0x10101010);
  return r.join(nibbles<field + 1>(r, word, rows), fifth, 0);
}

//===--- codes of a table
//-------------------------------------------------------------------------------------------===//

// The entry of the table for each code.
Value lookUp(BlockReader &r, Value codes, ArrayRef<int8_t> table) {
  auto words = cast<VectorType>(codes.getType());
  auto bytes = VectorType::get({4 * words.getDimSize(0)}, r.e.b.getI8Type());
  Value indices = vector::BitCastOp::create(r.e.b, r.e.loc, bytes, codes);
  Value values = kernel::TableLookupOp::create(r.e.b, r.e.loc, bytes, indices, table);
  return vector::BitCastOp::create(r.e.b, r.e.loc, words, values);
}

Value codesIq4Nl(BlockReader &r, int64_t word, int64_t rows) {
  return lookUp(r, nibbles<1>(r, word, rows), iq4Values);
}

// Twice the value of each 4-bit float, above 16.
Value doubledValues(BlockReader &r, Value codes) {
  constexpr int8_t table[] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};
  return lookUp(r, codes, table);
}

Value codesMxfp4(BlockReader &r, int64_t word, int64_t rows) {
  return doubledValues(r, nibbles<1>(r, word, rows));
}

GroupScales scalesMxfp4(BlockReader &r, int64_t) {
  constexpr int64_t bias = 127;
  Value code = r.unsignedBytes(0, r.e.index(0), /*each=*/false);
  return {r.e.mulf(r.fromE8M0(code), r.factor(0.5)), {}, r.less(code, bias + 1)};
}

// 16 values share eight bytes.
Value codesNvfp4(BlockReader &r, int64_t word, int64_t) {
  Emitter &e = r.e;
  Value bytes = r.words(1, e.add(e.mul(e.div(r.place, 16), 2), word / 4 * 2 + word % 2));
  return doubledValues(r, unpackNibbles(r, bytes, e.index(word % 4 / 2 * 4)));
}

GroupScales scalesNvfp4(BlockReader &r, int64_t group) {
  Value scale = r.fromE4M3(r.signedBytes(0, r.e.add(r.e.div(r.place, 16), group), /*each=*/false));
  return {r.e.mulf(scale, r.factor(0.5)), {}};
}

constexpr QuantUnpacker table[] = {
    {"q8_0", 0, true, 127, 32, 0, false, false, false, codesQ8_0, scaleF16},
    {"q4_0", 8, false, 15, 32, 16, false, false, false, nibbles<1>, scaleF16},
    {"q4_1", 0, false, 15, 32, 16, true, false, false, nibbles<2>, scaleAndOffsetF16},
    {"q5_0", 16, false, 31, 32, 16, false, false, true, nibblesAndFifthBits<1>, scaleF16},
    {"q5_1", 0, false, 31, 32, 16, true, false, true, nibblesAndFifthBits<2>, scaleAndOffsetF16},
    {"iq4_nl", 0, true, 127, 32, 16, false, false, true, codesIq4Nl, scaleF16},
    {"mxfp4", 16, false, 28, 32, 16, false, true, true, codesMxfp4, scalesMxfp4},
    {"nvfp4", 16, false, 28, 16, 8, false, false, true, codesNvfp4, scalesNvfp4}};

}  // namespace

const QuantUnpacker *findQuantUnpacker(std::string_view format) {
  const auto *entry = llvm::find_if(table, [&](const QuantUnpacker &unpacker) { return unpacker.format == format; });
  return entry == std::end(table) ? nullptr : entry;
}

}  // namespace talc
