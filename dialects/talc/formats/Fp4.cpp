// SPDX-License-Identifier: Apache-2.0
// The storage formats of e2m1 numbers, four bits each.
//
//   mxfp4         e8m0 scale s, 16 bytes of 32 numbers        s * x          the low halves of bytes are values 0 to 15
//   nvfp4         4 e4m3 scales s, 32 bytes of 64 numbers     s * x          of 16 values: of eight bytes, likewise
//   nvfp4_N_TYPE  f32 factor f, N / 16 e4m3 scales s, the     TYPE(x * (s * f)): a tensor's own factor, and the
//   rounding
//                 numbers as in nvfp4                         of checkpoints in TYPE
//
// The first two are also llama.cpp's, bit for bit its quantizer's. Of 0.25, 0.75 and other ties it takes the lower one.
#include "dialects/talc/formats/Rounding.h"
#include "dialects/talc/formats/SmallFloats.h"

namespace talc {

namespace {

// The number closest to x in steps of `scale`; of two the one whose code is lower.
uint8_t closest(float x, float scale) {
  constexpr float doubled[] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
  uint8_t best = 0;
  for (uint8_t code = 1; code < 16; ++code)
    if (std::fabs(doubled[code] * (0.5f * scale) - x) < std::fabs(doubled[best] * (0.5f * scale) - x))
      best = code;
  return best;
}

float greatest(const float *x, int64_t n) {
  float maximum = 0;
  for (int64_t i = 0; i < n; ++i)
    maximum = std::max(maximum, std::fabs(x[i]));
  return maximum;
}

// Numbers in groups of `size`, the first half of a group in the low halves of its bytes.
template <int64_t size> struct Numbers {
  static int64_t byte(int64_t i) { return i / size * (size / 2) + i % (size / 2); }
  static int shift(int64_t i) { return i % size < size / 2 ? 0 : 4; }
  static uint8_t get(const uint8_t *bytes, int64_t i) { return bytes[byte(i)] >> shift(i) & 15; }
  // The code's bits have to be zero before.
  static void set(uint8_t *bytes, int64_t i, int code) { bytes[byte(i)] |= static_cast<uint8_t>(code << shift(i)); }
};

struct Mxfp4 {
  static constexpr int64_t values = 32, bytes = 17, scaleValues = 32;
  static constexpr BlockField fields[] = {{0, 1, 1}, {1, 4, 4}};
  using Codes = Numbers<32>;

  static void decode(const uint8_t *block, float *x) {
    for (int64_t i = 0; i < values; ++i)
      x[i] = e2m1ToFloat(Codes::get(block + 1, i)) * e8m0ToFloat(block[0]);
  }

  static bool encode(const float *x, uint8_t *block) {
    float maximum = greatest(x, values);
    block[0] = maximum > 0 ? static_cast<uint8_t>(std::max(0.0f, std::floor(std::log2(maximum)) - 2 + 127)) : 0;
    for (int64_t i = 0; i < values; ++i)
      Codes::set(block + 1, i, closest(x[i], e8m0ToFloat(block[0])));
    return true;
  }

  static void assemble(const BlockParts &parts, uint8_t *block) {
    block[0] = static_cast<uint8_t>(parts.scaleCodes[0]);
    std::fill_n(block + 1, bytes - 1, 0);
    for (int64_t i = 0; i < values; ++i)
      Codes::set(block + 1, i, parts.codes[i]);
  }
};

// llama.cpp's, who rounds ties up and knows no 0x7f.
uint8_t positiveE4m3(float value) {
  value = std::min(value, 448.0f);
  if (!(value > 0))
    return 0;
  uint32_t bits = floatBits(value);
  int exponent = static_cast<int>(bits >> 23) - 127 + 7, mantissa = static_cast<int>(bits >> 20 & 7);
  if (exponent <= 0)
    return static_cast<uint8_t>(std::min(7, static_cast<int>(value * 512 + 0.5f)));
  mantissa += static_cast<int>(bits >> 19 & 1);
  exponent += mantissa >> 3;
  return static_cast<uint8_t>(exponent >= 15 ? 0x7e : exponent << 3 | (mantissa & 7));
}

template <int64_t count, int64_t header>
constexpr BlockField scaledFields[] = {{0, 1, 4}, {header, count / 16, 1}, {header + count / 16, count / 2, 1}};
template <int64_t count>
constexpr BlockField scaledFields<count, 0>[] = {{0, count / 16, 1}, {count / 16, count / 8, 4}};

struct Exactly {
  static float round(float value) { return value; }
};

// `header`: bytes of the factor, or 0 without one.
template <int64_t count, int64_t header, typename Rounding> struct Nvfp4 {
  static constexpr int64_t values = count, scaleValues = 16, scales = header, codes = header + count / 16,
                           bytes = codes + count / 2;
  static constexpr llvm::ArrayRef<BlockField> fields = scaledFields<count, header>;
  using Codes = Numbers<16>;

  static void decode(const uint8_t *block, float *x) {
    float factor = header ? loadWord<float>(block) : 1;
    for (int64_t i = 0; i < count; ++i)
      x[i] =
          Rounding::round(e2m1ToFloat(Codes::get(block + codes, i)) * (e4m3ToFloat(block[scales + i / 16]) * factor));
  }

  static bool encode(const float *x, uint8_t *block) {
    if (header)
      storeWord(1.0f, block);
    bool fits = true;
    for (int64_t group = 0; group < count / 16; ++group) {
      float idealScale = greatest(x + group * 16, 16) / 6;
      uint8_t scale = positiveE4m3(idealScale);
      fits &= idealScale <= 448;
      block[scales + group] = scale;
      for (int64_t i = group * 16; i < (group + 1) * 16; ++i)
        Codes::set(block + codes, i, closest(x[i], e4m3ToFloat(scale)));
    }
    return fits;
  }

  static void assemble(const BlockParts &parts, uint8_t *block) {
    std::fill_n(block, bytes, 0);
    if (header)
      storeWord(parts.factor, block);
    for (int64_t group = 0; group < count / 16; ++group)
      block[scales + group] = static_cast<uint8_t>(parts.scaleCodes[group]);
    for (int64_t i = 0; i < count; ++i)
      Codes::set(block + codes, i, parts.codes[i]);
  }
};

constexpr StorageFormat scaled[] = {assembledFormat<Nvfp4<256, 4, RoundToBf16>>("nvfp4_256_bf16", false),
                                    assembledFormat<Nvfp4<64, 4, RoundToBf16>>("nvfp4_64_bf16", false),
                                    assembledFormat<Nvfp4<256, 4, RoundToF16>>("nvfp4_256_f16", false),
                                    assembledFormat<Nvfp4<64, 4, RoundToF16>>("nvfp4_64_f16", false)};

}  // namespace

extern const StorageFormat mxfp4Format, nvfp4Format;
const StorageFormat mxfp4Format = asIntegers(assembledFormat<Mxfp4>("mxfp4", true)),
                    nvfp4Format = asIntegers(assembledFormat<Nvfp4<64, 0, Exactly>>("nvfp4", true));
extern const llvm::ArrayRef<StorageFormat> scaledFp4Formats;
const llvm::ArrayRef<StorageFormat> scaledFp4Formats = scaled;

}  // namespace talc
