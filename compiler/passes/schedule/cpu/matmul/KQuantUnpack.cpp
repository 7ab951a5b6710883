// SPDX-License-Identifier: Apache-2.0
// Codes and scales of q3_k, q4_k, q5_k and q6_k.
#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"

using namespace mlir;

namespace talc {

namespace {

// (word >> shift) & mask, of a static shift.
Value unpackBits(BlockReader &r, Value word, int64_t shift, int64_t mask) {
  return shift == 0 ? r.mask(word, mask) : r.bits(word, r.e.index(shift), mask);
}

//===--- q4_k and q5_k ------------------------------------------------------------------------------------------===//

// Four of eight 6-bit numbers are whole in a word; the others' lower bits are in the halves of another word, and their
// upper bits above those of the first four.
void unpackSixBits(BlockReader &r, int64_t field, int64_t word, int64_t half, Value (&numbers)[2]) {
  Value direct = r.words(field, r.e.index(word)), halves = r.words(field, r.e.index(2));
  numbers[0] = r.mask(direct, 0x3f3f3f3f);
  numbers[1] = r.join(unpackBits(r, halves, half, 0x0f0f0f0f), unpackBits(r, direct, 2, 0x30303030), 0);
}

Emitter::Values scalesQ45_K(BlockReader &r) {
  Value words[2];
  unpackSixBits(r, 2, 0, 0, words);
  Value blockScale = r.half(0);
  Emitter::Values scales;
  for (Value four : words)
    for (int64_t i = 0; i < 4; ++i)
      scales.push_back(r.e.mulf(blockScale, r.toFloat(unpackBits(r, four, 8 * i, 255))));
  return scales;
}

KQuantMinima minimaQ45_K(BlockReader &r) {
  KQuantMinima minima;
  unpackSixBits(r, 2, 1, 4, minima.minima);
  minima.scale = r.half(1);
  return minima;
}

Value firstIndexQ45_K(Emitter &e, Value pair) {
  return e.mul(pair, 2 * KQuantUnpacker::runLength);
}

template <int64_t field> Value nibbles(BlockReader &r, Value pair, int64_t second, int64_t word) {
  return unpackBits(r, r.words(field, r.e.add(r.e.mul(pair, 8), word)), 4 * second, 0x0f0f0f0f);
}

// Each byte has the fifth bits of eight values, one of each run.
Value codesQ5_K(BlockReader &r, Value pair, int64_t second, int64_t word) {
  Value pairBits = r.shiftRight(r.words(3, r.e.index(word)), r.e.mul(pair, 2));
  Value fifth = r.mask(r.shiftLeft(pairBits, 4 - second), 0x10101010);
  return r.join(nibbles<4>(r, pair, second, word), fifth, 0);
}

//===--- q6_k ---------------------------------------------------------------------------------------------------===//

// 128 values share 64 bytes of four bits and 32 bytes of two.
Value firstIndexQ6_K(Emitter &e, Value pair) {
  return e.add(e.mul(e.div(pair, 2), 128), e.mul(e.rem(pair, 2), KQuantUnpacker::runLength));
}

Value codesQ6_K(BlockReader &r, Value pair, int64_t second, int64_t word) {
  Emitter &e = r.e;
  Value high = r.words(1, e.add(e.mul(e.div(pair, 2), 8), word));
  Value pairBits = r.shiftRight(high, e.mul(e.rem(pair, 2), 2));
  Value upper = second ? r.mask(pairBits, 0x30303030) : r.mask(r.shiftLeft(pairBits, 4), 0x30303030);
  return r.join(nibbles<0>(r, pair, second, word), upper, 0);
}

Emitter::Values scalesQ6_K(BlockReader &r) {
  Value blockScale = r.half(3);
  Emitter::Values scales;
  for (int64_t group = 0; group < 16; ++group)
    scales.push_back(r.e.mulf(blockScale, r.toFloat(r.signedBytes(2, r.e.index(group), /*each=*/false))));
  return scales;
}

//===--- q3_k ---------------------------------------------------------------------------------------------------===//

// Codes have two bits here and the third, of eight values one byte, there. To have the zero point 32, they begin at 28.
Value codesQ3_K(BlockReader &r, Value pair, int64_t second, int64_t word) {
  Emitter &e = r.e;
  Value shift = e.add(e.mul(e.rem(pair, 2), 4), 2 * second);
  Value low = r.bits(r.words(1, e.add(e.mul(e.div(pair, 2), 8), word)), shift, 0x03030303);
  Value third = r.bits(r.words(0, e.index(word)), e.add(e.mul(pair, 2), second), 0x01010101);
  return r.plus(r.join(low, third, 2), r.constant(0x1c1c1c1c));
}

// Sixteen numbers of 6 bits: the lower four are halves of eight bytes, the upper two quarters of the four behind.
Emitter::Values scalesQ3_K(BlockReader &r) {
  Value blockScale = r.half(3);
  Emitter::Values scales;
  for (int64_t quarter = 0; quarter < 4; ++quarter) {
    Value low = unpackBits(r, r.words(2, r.e.index(quarter % 2)), quarter / 2 * 4, 0x0f0f0f0f);
    Value high = unpackBits(r, r.words(2, r.e.index(2)), 2 * quarter, 0x03030303);
    Value four = r.join(low, high, 4);
    for (int64_t i = 0; i < 4; ++i)
      scales.push_back(r.e.mulf(blockScale, r.toFloat(r.less(unpackBits(r, four, 8 * i, 255), 32))));
  }
  return scales;
}

constexpr KQuantUnpacker table[] = {
    {"q3_k", 16, 35, true, 32, 0, 2, true, firstIndexQ45_K, codesQ3_K, scalesQ3_K, nullptr},
    {"q4_k", 32, 15, false, 32, 3, 4, false, firstIndexQ45_K, nibbles<3>, scalesQ45_K, minimaQ45_K},
    {"q5_k", 32, 31, false, 32, 3, 5, true, firstIndexQ45_K, codesQ5_K, scalesQ45_K, minimaQ45_K},
    {"q6_k", 16, 63, true, 64, 0, 2, true, firstIndexQ6_K, codesQ6_K, scalesQ6_K, nullptr}};

}  // namespace

const KQuantUnpacker *findKQuantUnpacker(std::string_view format) {
  const auto *entry = llvm::find_if(table, [&](const KQuantUnpacker &unpacker) { return unpacker.format == format; });
  return entry == std::end(table) ? nullptr : entry;
}

}  // namespace talc
