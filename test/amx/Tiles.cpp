// SPDX-License-Identifier: Apache-2.0
// Computes what the instructions of AMX do.
#include "test/amx/Tiles.h"

#include <cmath>

namespace amx {

const char *Tiles::configure(const Bytes &from) {
  if (from[0] > 1)
    return "there is no such palette";
  *this = Tiles();
  if (from[0] == 0)
    return nullptr;
  for (int i = 2; i < 16; ++i)
    if (from[i] != 0)
      return "reserved bytes are not zero";
  known = from;
  for (int i = 0; i < registers; ++i) {
    Shape of = shape(i);
    if (of.rows > mostRows || of.bytes > rowBytes || (of.rows == 0) != (of.bytes == 0))
      return "a tile has no such shape";
  }
  return nullptr;
}

Shape Tiles::shape(int number) const {
  return {known[48 + number], known[16 + 2 * number] | known[17 + 2 * number] << 8};
}

// Numbers below 2^-126 count as zero, in operands and results.
static float flushed(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0f, value) : value;
}

static float converted(uint16_t upper) {
  uint32_t bits = static_cast<uint32_t>(upper) << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return flushed(value);
}

// Even k and odd k are chains of their own, which begin at zero; what both make is added to the sum.
static float dotPairs(const Tile &a, const Tile &b, int r, int n, int words, float sum) {
  float chains[2] = {0, 0};
  for (int k = 0; k < words; ++k)
    for (int i = 0; i < 2; ++i) {
      float x = converted(a.at<uint16_t>(r, 2 * k + i)), y = converted(b.at<uint16_t>(k, 2 * n + i));
      chains[i] = flushed(std::fma(x, y, chains[i]));
    }
  return flushed(flushed(sum) + flushed(chains[0] + chains[1]));
}

static int32_t byte(const Tile &tile, int r, int i, bool isSigned) {
  return isSigned ? tile.at<int8_t>(r, i) : tile.at<uint8_t>(r, i);
}

static uint32_t dotBytes(Product product, const Tile &a, const Tile &b, int r, int n, int words, uint32_t sum) {
  bool signedA = product == Product::SignedSigned || product == Product::SignedUnsigned;
  bool signedB = product == Product::SignedSigned || product == Product::UnsignedSigned;
  for (int k = 0; k < words; ++k)
    for (int i = 0; i < 4; ++i)
      sum += static_cast<uint32_t>(byte(a, r, 4 * k + i, signedA) * byte(b, k, 4 * n + i, signedB));
  return sum;
}

const char *Tiles::multiply(Product product, int sums, int a, int b) {
  Shape ofSums = shape(sums), ofA = shape(a), ofB = shape(b);
  if (sums == a || sums == b || a == b)
    return "a tile is an operand twice";
  if (ofSums.rows != ofA.rows || ofSums.bytes != ofB.bytes || ofA.bytes != 4 * ofB.rows || ofSums.rows == 0)
    return "the shapes of operands do not go together";
  Tile result;
  int words = ofA.bytes / 4;
  for (int r = 0; r < ofSums.rows; ++r)
    for (int n = 0; n < ofSums.bytes / 4; ++n)
      if (product == Product::Bf16)
        result.set(r, n, dotPairs(tiles[a], tiles[b], r, n, words, tiles[sums].at<float>(r, n)));
      else
        result.set(r, n, dotBytes(product, tiles[a], tiles[b], r, n, words, tiles[sums].at<uint32_t>(r, n)));
  tiles[sums] = result;
  return nullptr;
}

}  // namespace amx
