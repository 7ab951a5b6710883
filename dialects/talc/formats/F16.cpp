// SPDX-License-Identifier: Apache-2.0
// The storage format f16: IEEE 754 half precision.
#include "dialects/talc/formats/HalfWords.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/BuiltinTypes.h"

namespace talc {

static mlir::Type type(mlir::MLIRContext *context, const StorageFormat &) {
  return mlir::Float16Type::get(context);
}

// Shifts the ten bits of the mantissa in place and corrects the exponent's bias by a product with 2^112, which also
// makes subnormal numbers right.
static float decode(uint16_t half) {
  uint32_t sign = uint32_t(half & 0x8000) << 16, magnitude = uint32_t(half & 0x7fff) << 13;
  uint32_t finite = floatBits(floatFromBits(magnitude) * 0x1p112f);
  uint32_t special = magnitude | 0x7f800000;
  return floatFromBits(sign | ((half & 0x7c00) == 0x7c00 ? special : finite));
}

// Rounds to nearest even; too large values become infinite.
static uint16_t encode(float value) {
  constexpr uint32_t smallestNormal = 113u << 23, tooLarge = 143u << 23, infinity = 255u << 23;
  uint32_t bits = floatBits(value), magnitude = bits & 0x7fffffff;
  // The last bit of a mantissa in [0.5, 1) counts 2^-24, as in a subnormal f16: the addition rounds.
  uint32_t subnormal = floatBits(floatFromBits(magnitude) + 0.5f) - floatBits(0.5f);
  uint32_t normal = (magnitude - (112u << 23) + 0xfff + ((magnitude >> 13) & 1)) >> 13;
  uint32_t result = magnitude < smallestNormal ? subnormal : normal;
  result = magnitude >= tooLarge ? 0x7c00 : result;
  result = magnitude > infinity ? 0x7e00 : result;
  return static_cast<uint16_t>(((bits >> 16) & 0x8000) | result);
}

extern const StorageFormat f16Format;
const StorageFormat f16Format = {
    "f16", 1, 2, /*exact=*/false, type, decodeHalfWords<decode>, encodeHalfWords<encode, 0x7c00>};

}  // namespace talc
