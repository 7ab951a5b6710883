// SPDX-License-Identifier: Apache-2.0
// The storage formats that activations are rounded to: integers of 8 bits with a scale, and their sums.
//
//   q8_sums, beside blocks of 32               q8_k_sums, beside blocks of 256
//     d       f32          d * q                 d         f32            d * q
//     d * s   f32          the values' sum       l, h      8 + 8 bytes    every 32 have the sum 128 * h + l
//     -16 * s two i32      s: the sum of all,    -32 * s   16 i32         s: the sum of every 16
//                          of the first 16
//     q       32 integers                        q         256 integers
//
// A weight whose levels begin at z instead of 0 has the product sum((w - z) * q) = sum(w * q) - z * s, and one whose
// values have an offset m adds m * (d * s). In blocks of 256 the levels around zero are those of q6_k, with z = 32, and
// offsets are small integers m times a scale, whose products with sums are dot products of bytes: of l, and of h.
#include "dialects/talc/formats/Blocks.h"
#include "dialects/talc/formats/RoundedRows.h"

namespace talc {

namespace {

template <typename Block> void decodeLevels(const uint8_t *block, float *x) {
  float d;
  std::memcpy(&d, block, sizeof(d));
  for (int64_t i = 0; i < Block::values; ++i)
    x[i] = static_cast<float>(static_cast<int8_t>(block[Block::levels + i])) * d;
}

// Returns the scale, and tells visit(i, level) of every level.
template <typename Block, typename Visit> float roundLevels(const float *x, uint8_t *block, Visit visit) {
  float most = 0;
  for (int64_t i = 0; i < Block::values; ++i)
    most = std::max(most, std::fabs(x[i]));
  most = most < 0x1p-120f ? 0 : most;
  float d = most / 127, id = most == 0 ? 0 : 127 / most;
  for (int64_t i = 0; i < Block::values; ++i) {
    int level = nearest(x[i] * id);
    block[Block::levels + i] = static_cast<uint8_t>(level);
    visit(i, level);
  }
  std::memcpy(block, &d, sizeof(d));
  return d;
}

struct Q8Sums {
  static constexpr int64_t values = 32, bytes = 48, sum = 4, starts = 8, levels = 16;
  static constexpr BlockField fields[] = {{0, 1, 4}, {sum, 1, 4}, {starts, 2, 4}, {levels, 8, 4}};

  static void decode(const uint8_t *block, float *x) { decodeLevels<Q8Sums>(block, x); }

  static bool encode(const float *x, uint8_t *block) {
    int32_t sums[2] = {};
    float d = roundLevels<Q8Sums>(x, block, [&](int64_t i, int level) {
      sums[0] += level;
      sums[1] += i < values / 2 ? level : 0;
    });
    float all = d * static_cast<float>(sums[0]);
    std::memcpy(block + sum, &all, sizeof(all));
    const int32_t zero = roundedZero, begins[2] = {-zero * sums[0], -zero * sums[1]};
    std::memcpy(block + starts, begins, sizeof(begins));
    return true;
  }
};

struct Q8KSums {
  static constexpr int64_t values = 256, bytes = 340, digits = 4, starts = 20, levels = 84, zero = 32;
  static constexpr int64_t groups = 16, group = values / groups, pairs = groups / 2;
  static constexpr BlockField fields[] = {{0, 1, 4}, {digits, 4, 4}, {starts, groups, 4}, {levels, 64, 4}};

  static void decode(const uint8_t *block, float *x) { decodeLevels<Q8KSums>(block, x); }

  static bool encode(const float *x, uint8_t *block) {
    int32_t sums[groups] = {}, begins[groups];
    roundLevels<Q8KSums>(x, block, [&](int64_t i, int level) { sums[i / group] += level; });
    for (int64_t g = 0; g < groups; ++g)
      begins[g] = -zero * sums[g];
    std::memcpy(block + starts, begins, sizeof(begins));
    for (int64_t p = 0; p < pairs; ++p) {
      int32_t sum = sums[2 * p] + sums[2 * p + 1], high = (sum + 64) >> 7;
      block[digits + p] = static_cast<uint8_t>(sum - (high << 7));
      block[digits + pairs + p] = static_cast<uint8_t>(high);
    }
    return true;
  }
};

template <typename Block> constexpr StorageFormat unlisted(std::string_view name) {
  StorageFormat format = blockFormat<Block>(name);
  format.listed = false;
  return format;
}

}  // namespace

extern const StorageFormat q8SumsFormat, q8KSumsFormat;
const StorageFormat q8SumsFormat = unlisted<Q8Sums>("q8_sums"), q8KSumsFormat = unlisted<Q8KSums>("q8_k_sums");

const StorageFormat *roundedRowsFor(const StorageFormat &weight) {
  if (!weight.integers)
    return nullptr;
  return weight.blockValues == Q8KSums::values ? &q8KSumsFormat : &q8SumsFormat;
}

}  // namespace talc
