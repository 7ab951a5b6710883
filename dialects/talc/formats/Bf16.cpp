// SPDX-License-Identifier: Apache-2.0
// The storage format bf16: the upper half of an f32.
#include "dialects/talc/formats/HalfWords.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/BuiltinTypes.h"

namespace talc {

static mlir::Type type(mlir::MLIRContext *context, const StorageFormat &) {
  return mlir::BFloat16Type::get(context);
}

static float decode(uint16_t half) {
  return floatFromBits(uint32_t(half) << 16);
}

// Rounds to nearest even. A NaN stays a NaN.
static uint16_t encode(float value) {
  uint32_t bits = floatBits(value);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  uint32_t nan = (bits >> 16) | 0x40;
  return static_cast<uint16_t>((bits & 0x7fffffff) > 0x7f800000 ? nan : rounded);
}

extern const StorageFormat bf16Format;
const StorageFormat bf16Format = {
    "bf16", 1, 2, /*exact=*/false, type, decodeHalfWords<decode>, encodeHalfWords<encode, 0x7f80>};

}  // namespace talc
