// SPDX-License-Identifier: Apache-2.0
// Levels and scales of q4_k, q5_k and q6_k.
#include "compiler/passes/schedule/cpu/matmul/KQuantUnpack.h"

using namespace mlir;

namespace talc {

namespace {

// (word >> shift) & most, of a shift that is known.
Value bitsOf(BlockReader &r, Value word, int64_t shift, int64_t most) {
  return shift == 0 ? r.mask(word, most) : r.bits(word, r.e.index(shift), most);
}

//===--- q4_k and q5_k ------------------------------------------------------------------------------------------===//

// Of eight numbers of 6 bits, four are whole in a word; the others' lower bits are in the halves of another one, and
// their upper bits above those of the first four.
void sixBits(BlockReader &r, int64_t field, int64_t word, int64_t half, Value (&numbers)[2]) {
  Value whole = r.words(field, r.e.index(word)), halves = r.words(field, r.e.index(2));
  numbers[0] = r.mask(whole, 0x3f3f3f3f);
  numbers[1] = r.join(bitsOf(r, halves, half, 0x0f0f0f0f), bitsOf(r, whole, 2, 0x30303030), 0);
}

Emitter::Values lineSteps(BlockReader &r) {
  Value words[2];
  sixBits(r, 2, 0, 0, words);
  Value step = r.half(0);
  Emitter::Values steps;
  for (Value four : words)
    for (int64_t i = 0; i < 4; ++i)
      steps.push_back(r.e.mulf(step, r.toFloat(bitsOf(r, four, 8 * i, 255))));
  return steps;
}

KQuantMinima lineOffsets(BlockReader &r) {
  KQuantMinima offsets;
  sixBits(r, 2, 1, 4, offsets.minima);
  offsets.step = r.half(1);
  return offsets;
}

Value firstOfLines(Emitter &e, Value pair) {
  return e.mul(pair, 2 * KQuantUnpacker::stretch);
}

template <int64_t field> Value line(BlockReader &r, Value pair, int64_t second, int64_t word) {
  return bitsOf(r, r.words(field, r.e.add(r.e.mul(pair, 8), word)), 4 * second, 0x0f0f0f0f);
}

// Of 32 values of the block, each byte has eight fifth bits, one for each stretch.
Value lineAndFifth(BlockReader &r, Value pair, int64_t second, int64_t word) {
  Value ofPair = r.right(r.words(3, r.e.index(word)), r.e.mul(pair, 2));
  Value fifth = r.mask(r.left(ofPair, 4 - second), 0x10101010);
  return r.join(line<4>(r, pair, second, word), fifth, 0);
}

//===--- q6_k ---------------------------------------------------------------------------------------------------===//

// 128 values share 64 bytes of four bits and 32 bytes of two.
Value firstOfHalves(Emitter &e, Value pair) {
  return e.add(e.mul(e.div(pair, 2), 128), e.mul(e.rem(pair, 2), KQuantUnpacker::stretch));
}

Value levelsQ6_K(BlockReader &r, Value pair, int64_t second, int64_t word) {
  Emitter &e = r.e;
  Value high = r.words(1, e.add(e.mul(e.div(pair, 2), 8), word));
  Value ofPair = r.right(high, e.mul(e.rem(pair, 2), 2));
  Value upper = second ? r.mask(ofPair, 0x30303030) : r.mask(r.left(ofPair, 4), 0x30303030);
  return r.join(line<0>(r, pair, second, word), upper, 0);
}

Emitter::Values stepsQ6_K(BlockReader &r) {
  Value step = r.half(3);
  Emitter::Values steps;
  for (int64_t group = 0; group < 16; ++group)
    steps.push_back(r.e.mulf(step, r.toFloat(r.signedBytes(2, r.e.index(group), /*each=*/false))));
  return steps;
}

constexpr KQuantUnpacker table[] = {
    {"q4_k", 32, 15, false, 32, 3, 4, false, firstOfLines, line<3>, lineSteps, lineOffsets},
    {"q5_k", 32, 31, false, 32, 3, 5, true, firstOfLines, lineAndFifth, lineSteps, lineOffsets},
    {"q6_k", 16, 63, true, 64, 0, 2, true, firstOfHalves, levelsQ6_K, stepsQ6_K, nullptr}};

}  // namespace

const KQuantUnpacker *kQuantUnpacker(std::string_view format) {
  for (const KQuantUnpacker &known : table)
    if (known.format == format)
      return &known;
  return nullptr;
}

}  // namespace talc
