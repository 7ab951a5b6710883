// SPDX-License-Identifier: Apache-2.0
// The storage formats of quantized activations: int8 codes with a scale, and their sums.
//
//   q8_sums, for weights in blocks of 32       q8_k_sums, for k-quants
//     d       f32          d * q                 d         f32            d * q
//     s       f32          sum of the codes      l, h      8 + 8 bytes    every 32 have the sum 128 * h + l
//     -16 * s two i32      of all, and of the    -32 * s   16 i32         s: the sum of every 16
//                          first 16
//     q       32 integers                        q         256 integers
//
// The product of a weight with the zero point z is sum((w - z) * q) = sum(w * q) - z * s, and a weight with a minimum m
// adds m * s. Among k-quants, q6_k has the zero point 32; minima of the others are small integers m times a scale,
// whose products with sums are dot products of bytes, one with l and one with h.
//
// q8_256_sums are blocks of q8_sums, eight of which are quantized together with the same d. The kernel then multiplies
// floats once per scale of the weight and once per 256 values, and prompts take up to a fifth less time. A common scale
// makes quantization errors larger, since it covers the greatest magnitude of more values: about 1.8 times for the
// product of a gate and up, whose magnitudes differ most, and 2.7 times if a few features are much larger than all
// others. That is small next to the errors of four bits and a scale, but not next to those of finer formats (q4_1,
// q5_0, ...): behind a gate or an activation function these use q8_sums, as q8_0 does everywhere.
#include "dialects/talc/formats/QuantizedActivations.h"
#include "dialects/talc/formats/QuantBlocks.h"

namespace talc {

namespace {

template <typename Block> void decodeCodes(const uint8_t *block, float *x) {
  float d;
  std::memcpy(&d, block, sizeof(d));
  for (int64_t i = 0; i < Block::values; ++i)
    x[i] = static_cast<float>(static_cast<int8_t>(block[Block::codes + i])) * d;
}

// Quantizes `jointValues` values that share a scale, in blocks. Calls visit(i, code) for every code.
template <typename Block, typename Visit>
void quantizeTogether(const float *x, int64_t jointValues, uint8_t *blocks, Visit visit) {
  float maximum = 0;
  for (int64_t i = 0; i < jointValues; ++i)
    maximum = std::max(maximum, std::fabs(x[i]));
  maximum = maximum < 0x1p-120f ? 0 : maximum;
  float d = maximum / 127, id = maximum == 0 ? 0 : 127 / maximum;
  for (int64_t i = 0; i < jointValues; ++i) {
    int code = nearest(x[i] * id);
    blocks[i / Block::values * Block::bytes + Block::codes + i % Block::values] = static_cast<uint8_t>(code);
    visit(i, code);
  }
  for (int64_t block = 0; block < jointValues / Block::values; ++block)
    std::memcpy(blocks + block * Block::bytes, &d, sizeof(d));
}

struct Q8Sums {
  static constexpr int64_t values = 32, bytes = 48, sum = 4, starts = 8, codes = 16;
  static constexpr BlockField fields[] = {{0, 1, 4}, {sum, 1, 4}, {starts, 2, 4}, {codes, 8, 4}};

  static void decode(const uint8_t *block, float *x) { decodeCodes<Q8Sums>(block, x); }

  static void encode(const float *x, int64_t jointValues, uint8_t *blocks) {
    std::vector<std::array<int32_t, 2>> sums(jointValues / values);
    quantizeTogether<Q8Sums>(x, jointValues, blocks, [&](int64_t i, int code) {
      sums[i / values][0] += code;
      sums[i / values][1] += i % values < values / 2 ? code : 0;
    });
    for (auto [all, first] : sums) {
      auto s = static_cast<float>(all);
      std::memcpy(blocks + sum, &s, sizeof(s));
      const int32_t zero = foldedZeroPoint, begins[2] = {-zero * all, -zero * first};
      std::memcpy(blocks + starts, begins, sizeof(begins));
      blocks += bytes;
    }
  }
};

struct Q8KSums {
  static constexpr int64_t values = 256, bytes = 340, digits = 4, starts = 20, codes = 84, zero = 32;
  static constexpr int64_t groups = 16, group = values / groups, pairs = groups / 2;
  static constexpr BlockField fields[] = {{0, 1, 4}, {digits, 4, 4}, {starts, groups, 4}, {codes, 64, 4}};

  static void decode(const uint8_t *block, float *x) { decodeCodes<Q8KSums>(block, x); }

  static void encode(const float *x, int64_t jointValues, uint8_t *block) {
    int32_t sums[groups] = {}, begins[groups];
    quantizeTogether<Q8KSums>(x, jointValues, block, [&](int64_t i, int code) { sums[i / group] += code; });
    for (int64_t g = 0; g < groups; ++g)
      begins[g] = -zero * sums[g];
    std::memcpy(block + starts, begins, sizeof(begins));
    for (int64_t p = 0; p < pairs; ++p) {
      int32_t sum = sums[2 * p] + sums[2 * p + 1], high = (sum + 64) >> 7;
      block[digits + p] = static_cast<uint8_t>(sum - (high << 7));
      block[digits + pairs + p] = static_cast<uint8_t>(high);
    }
  }
};

template <typename Block, int64_t jointValues>
bool encodeRows(const float *values, int64_t count, int64_t lanes, uint8_t *bytes) {
  constexpr int64_t blocks = jointValues / Block::values;
  std::vector<uint8_t> laneBlocks(blocks * Block::bytes * lanes);
  float x[jointValues];
  bool fits = std::all_of(values, values + count, [](float value) { return std::isfinite(value); });
  for (const float *end = values + count; fits && values < end; values += jointValues * lanes) {
    for (int64_t lane = 0; lane < lanes; ++lane) {
      for (int64_t i = 0; i < jointValues; ++i)
        x[i] = values[i * lanes + lane];
      Block::encode(x, jointValues, laneBlocks.data() + lane * blocks * Block::bytes);
    }
    for (int64_t block = 0; block < blocks; ++block, bytes += Block::bytes * lanes)
      interleaveBlocks(Block::fields, laneBlocks.data() + block * Block::bytes, blocks * Block::bytes, lanes, bytes);
  }
  return fits;
}

template <typename Block, int64_t jointValues> constexpr StorageFormat rowFormat(std::string_view name) {
  StorageFormat format = {name,
                          Block::values,
                          Block::bytes,
                          /*exact=*/false,
                          typeOfBlocks,
                          decodeBlocks<Block>,
                          encodeRows<Block, jointValues>,
                          Block::fields};
  format.listed = false;
  format.scaleValues = jointValues;
  return format;
}

constexpr StorageFormat table[] = {rowFormat<Q8Sums, 32>("q8_sums"), rowFormat<Q8Sums, 256>("q8_256_sums"),
                                   rowFormat<Q8KSums, 256>("q8_k_sums")};

}  // namespace

extern const llvm::ArrayRef<StorageFormat> activationFormats;
const llvm::ArrayRef<StorageFormat> activationFormats = table;

const StorageFormat *activationFormatFor(const StorageFormat &weight, int64_t features, bool varyWidely) {
  const auto &[small, joint, super] = table;
  if (!weight.integers)
    return nullptr;
  if (weight.blockValues == super.blockValues)
    return &super;
  const int64_t bytes = weight.blockBytes * small.blockValues / weight.blockValues;
  constexpr int64_t coarseBytes = 18;  // four bits and a scale
  bool needsSmall = bytes >= small.blockValues || (bytes > coarseBytes && varyWidely);
  return needsSmall || features % joint.scaleValues != 0 ? &small : &joint;
}

bool multipliesActivations(const StorageFormat &weight, int64_t features, const StorageFormat *activations) {
  return activations && (activationFormatFor(weight, features, /*varyWidely=*/false) == activations ||
                         activationFormatFor(weight, features, /*varyWidely=*/true) == activations);
}

}  // namespace talc
