// SPDX-License-Identifier: Apache-2.0
// Levels and scales of the formats of dialects/talc/formats that are integers times scales.
//
// Levels are bytes: of less than eight bits without a sign, as dot products of integers want one of their operands. Of
// halves of bytes those of four lanes are taken at once: what one shift brings to the next byte, a mask takes away.
#include "compiler/passes/schedule/cpu/matmul/QuantUnpack.h"

#include "dialects/kernel/ByteOps.h"

using namespace mlir;

namespace talc {

namespace {

// The word-th word of four from the reader's place on, of a field in which so many values have words of their own.
Value wordFrom(BlockReader &r, int64_t field, int64_t word) {
  return r.words(field, r.e.add(r.e.div(r.place, 4), word));
}

// (word >> shift) & 0x0f0f0f0f
Value nibblesOf(BlockReader &r, Value word, Value shift) {
  return r.bits(word, shift, 0x0f0f0f0f);
}

GroupScales step(BlockReader &r, int64_t) {
  return {r.half(0), {}};
}

GroupScales stepAndOffset(BlockReader &r, int64_t) {
  return {r.half(0), r.half(1)};
}

//===--- blocks of 32 -------------------------------------------------------------------------------------------===//

Value levelsQ8_0(BlockReader &r, int64_t word, int64_t) {
  return wordFrom(r, 1, word);
}

// The lower halves of four words, then the upper ones.
template <int64_t field> Value halves(BlockReader &r, int64_t word, int64_t) {
  return nibblesOf(r, r.words(field, r.e.index(word % 4)), r.e.index(word / 4 * 4));
}

// Four bits, each at the fifth place of its byte.
//
//   0000 0000  0000 0000  0000 0000  0000 dcba   *   0x02040810   =   000d cba0  00dc ba00  0dcb a000  dcba 0000
//
// with the bits at 28, 20, 12 and 4 in their places.
Value multiplied(BlockReader &r, Value bits, int64_t word) {
  Value own = r.bits(bits, r.e.index(4 * word), 15);
  return arith::MulIOp::create(r.e.b, r.e.loc, own, r.constant(0x02040810));
}

// Exchanges the bits at the places of `lower` with those `distance` above.
Value exchanged(BlockReader &r, Value bits, int64_t distance, int64_t lower) {
  auto differing = [&](Value x, Value y) { return arith::XOrIOp::create(r.e.b, r.e.loc, x, y).getResult(); };
  Value change = r.mask(differing(r.right(bits, distance), bits), lower);
  return differing(differing(bits, change), r.left(change, distance));
}

// The same without a product: once for all words, bits are exchanged so that each byte has its own in all of them.
//
//   place   4  3  2  1  0        w: bits of a word's number, i: of a value's in it
//   before  w2 w1 w0 i1 i0
//   after   i1 i0 w0 w2 w1
Value shifted(BlockReader &r, Value bits, int64_t word) {
  constexpr int64_t fifth = 4;
  bits = exchanged(r, exchanged(r, bits, 14, 0x0000cccc), 7, 0x00aa00aa);
  int64_t place = word % 2 * 4 + word / 4 * 2 + word / 2 % 2;
  return place > fifth ? r.right(bits, place - fifth) : r.left(bits, fifth - place);
}

// Dot products of more than few rows keep the units that multiply busy. Two operations on bits are one instruction of
// AVX-512; without that exchanging takes too many.
bool leavesNoProduct(int64_t lanes, int64_t rows) {
  constexpr int64_t few = 2;
  return lanes > 8 && rows > few;
}

template <int64_t field> Value halvesAndFifth(BlockReader &r, int64_t word, int64_t rows) {
  Value bits = r.words(field, r.e.index(0));
  Value places = leavesNoProduct(r.lanes, rows) ? shifted(r, bits, word) : multiplied(r, bits, word);
  Value fifth = r.mask(places, 0x10101010);
  return r.join(halves<field + 1>(r, word, rows), fifth, 0);
}

//===--- numbers of 4 bits --------------------------------------------------------------------------------------===//

// Twice the numbers, above 16.
Value doubled(BlockReader &r, Value codes) {
  constexpr int8_t levels[] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};
  auto words = cast<VectorType>(codes.getType());
  auto bytes = VectorType::get({4 * words.getDimSize(0)}, r.e.b.getI8Type());
  Value places = vector::BitCastOp::create(r.e.b, r.e.loc, bytes, codes);
  Value found = kernel::TableLookupOp::create(r.e.b, r.e.loc, bytes, places, levels);
  return vector::BitCastOp::create(r.e.b, r.e.loc, words, found);
}

Value levelsMxfp4(BlockReader &r, int64_t word, int64_t rows) {
  return doubled(r, halves<1>(r, word, rows));
}

GroupScales scalesMxfp4(BlockReader &r, int64_t) {
  constexpr int64_t bias = 127;
  Value code = r.unsignedBytes(0, r.e.index(0), /*each=*/false);
  return {r.e.mulf(r.fromE8M0(code), r.factor(0.5)), {}, r.less(code, bias + 1)};
}

// 16 values share eight bytes.
Value levelsNvfp4(BlockReader &r, int64_t word, int64_t) {
  Emitter &e = r.e;
  Value bytes = r.words(1, e.add(e.mul(e.div(r.place, 16), 2), word / 4 * 2 + word % 2));
  return doubled(r, nibblesOf(r, bytes, e.index(word % 4 / 2 * 4)));
}

GroupScales scalesNvfp4(BlockReader &r, int64_t further) {
  Value scale = r.fromE4M3(r.signedBytes(0, r.e.add(r.e.div(r.place, 16), further), /*each=*/false));
  return {r.e.mulf(scale, r.factor(0.5)), {}};
}

constexpr QuantUnpacker table[] = {{"q8_0", 0, true, 127, 32, 0, false, false, false, levelsQ8_0, step},
                                   {"q4_0", 8, false, 15, 32, 16, false, false, false, halves<1>, step},
                                   {"q4_1", 0, false, 15, 32, 16, true, false, false, halves<2>, stepAndOffset},
                                   {"q5_0", 16, false, 31, 32, 16, false, false, true, halvesAndFifth<1>, step},
                                   {"q5_1", 0, false, 31, 32, 16, true, false, true, halvesAndFifth<2>, stepAndOffset},
                                   {"mxfp4", 16, false, 28, 32, 16, false, true, true, levelsMxfp4, scalesMxfp4},
                                   {"nvfp4", 16, false, 28, 16, 8, false, false, true, levelsNvfp4, scalesNvfp4}};

}  // namespace

const QuantUnpacker *quantUnpacker(std::string_view format) {
  for (const QuantUnpacker &known : table)
    if (known.format == format)
      return &known;
  return nullptr;
}

}  // namespace talc
