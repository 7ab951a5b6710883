// SPDX-License-Identifier: Apache-2.0
// The storage formats fp8_N_TYPE: N numbers of e4m3 with an f32 scale, whose products are rounded to TYPE, as
// checkpoints in that type mean them. A scale for a row, a square block or a tensor is stored with every N values.
#include "dialects/talc/formats/Rounding.h"
#include "dialects/talc/formats/SmallFloats.h"

namespace talc {

namespace {

template <int64_t count> constexpr BlockField fp8Fields[] = {{0, 1, 4}, {4, count, 1}};

template <int64_t count, typename Rounding> struct Fp8 {
  static constexpr int64_t values = count, scaleValues = count, bytes = 4 + count;
  static constexpr llvm::ArrayRef<BlockField> fields = fp8Fields<count>;

  static void decode(const uint8_t *block, float *x) {
    float scale = loadWord<float>(block);
    for (int64_t i = 0; i < count; ++i)
      x[i] = Rounding::round(e4m3ToFloat(block[4 + i]) * scale);
  }

  static bool encode(const float *x, uint8_t *block) {
    float maximum = 0;
    for (int64_t i = 0; i < count; ++i)
      maximum = std::max(maximum, std::fabs(x[i]));
    float scale = maximum / 448;
    storeWord(scale, block);
    bool fits = true;
    for (int64_t i = 0; i < count; ++i) {
      block[4 + i] = floatToE4m3(scale > 0 ? x[i] / scale : 0);
      fits &= std::isfinite(Rounding::round(e4m3ToFloat(block[4 + i]) * scale));
    }
    return fits;
  }

  static void assemble(const BlockParts &parts, uint8_t *block) {
    storeWord(parts.scales[0], block);
    for (int64_t i = 0; i < count; ++i)
      block[4 + i] = static_cast<uint8_t>(parts.codes[i]);
  }
};

constexpr StorageFormat formats[] = {assembledFormat<Fp8<128, RoundToBf16>>("fp8_128_bf16", true),
                                     assembledFormat<Fp8<128, RoundToF16>>("fp8_128_f16", false),
                                     assembledFormat<Fp8<32, RoundToBf16>>("fp8_32_bf16", false),
                                     assembledFormat<Fp8<32, RoundToF16>>("fp8_32_f16", false)};

}  // namespace

extern const llvm::ArrayRef<StorageFormat> fp8Formats;
const llvm::ArrayRef<StorageFormat> fp8Formats = formats;

}  // namespace talc
