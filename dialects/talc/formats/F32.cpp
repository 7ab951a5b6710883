// SPDX-License-Identifier: Apache-2.0
// The storage format f32: IEEE 754 single precision, which everything is computed in.
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cstring>

namespace talc {

static mlir::Type type(mlir::MLIRContext *context, const StorageFormat &) {
  return mlir::Float32Type::get(context);
}

static void decode(const uint8_t *bytes, int64_t count, int64_t, float *values) {
  std::memcpy(values, bytes, count * sizeof(float));
}

static bool encode(const float *values, int64_t count, int64_t, uint8_t *bytes) {
  std::memcpy(bytes, values, count * sizeof(float));
  return true;
}

extern const StorageFormat f32Format;
const StorageFormat f32Format = {"f32", 1, 4, /*exact=*/true, type, decode, encode};

}  // namespace talc
