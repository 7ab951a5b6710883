// SPDX-License-Identifier: Apache-2.0
// The storage format q8_sums, which activations are rounded to: 32 integers of 8 bits with a scale, and their sums.
//
//   d       f32             d * q
//   d * s   f32             the values' sum
//   s       two i32         the sum of all 32 integers, and that of the first 16
//   q       32 integers
//
// A weight whose levels begin at z instead of 0 has the product sum((w - z) * q) = sum(w * q) - z * s, and one whose
// values have an offset m adds m * (d * s).
#include "dialects/talc/formats/Blocks.h"

namespace talc {

namespace {

struct Q8Sums {
  static constexpr int64_t values = 32, bytes = 48, sum = 4, sums = 8, levels = 16;
  static constexpr BlockField fields[] = {{0, 1, 4}, {sum, 1, 4}, {sums, 2, 4}, {levels, 8, 4}};

  static void decode(const uint8_t *block, float *x) {
    float d;
    std::memcpy(&d, block, sizeof(d));
    for (int64_t i = 0; i < values; ++i)
      x[i] = static_cast<float>(static_cast<int8_t>(block[levels + i])) * d;
  }

  static bool encode(const float *x, uint8_t *block) {
    float most = 0;
    for (int64_t i = 0; i < values; ++i)
      most = std::max(most, std::fabs(x[i]));
    most = most < 0x1p-120f ? 0 : most;
    float d = most / 127, id = most == 0 ? 0 : 127 / most;
    int32_t integers[2] = {};
    for (int64_t i = 0; i < values; ++i) {
      int level = nearest(x[i] * id);
      block[levels + i] = static_cast<uint8_t>(level);
      integers[0] += level;
      integers[1] += i < values / 2 ? level : 0;
    }
    float all = d * static_cast<float>(integers[0]);
    std::memcpy(block, &d, sizeof(d));
    std::memcpy(block + sum, &all, sizeof(all));
    std::memcpy(block + sums, integers, sizeof(integers));
    return true;
  }
};

constexpr StorageFormat unlisted() {
  StorageFormat format = blockFormat<Q8Sums>("q8_sums");
  format.listed = false;
  return format;
}

}  // namespace

extern const StorageFormat q8SumsFormat;
const StorageFormat q8SumsFormat = unlisted();

}  // namespace talc
