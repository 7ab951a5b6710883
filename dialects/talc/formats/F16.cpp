// SPDX-License-Identifier: Apache-2.0
// The storage format f16: IEEE 754 half precision.
#include "dialects/talc/formats/HalfFloats.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/BuiltinTypes.h"

namespace talc {

static mlir::Type type(mlir::MLIRContext *context, const StorageFormat &) {
  return mlir::Float16Type::get(context);
}

extern const StorageFormat f16Format;
const StorageFormat f16Format = {
    "f16", 1, 2, /*exact=*/false, type, decodeHalfWords<halfToFloat>, encodeHalfWords<floatToHalf, 0x7c00>};

}  // namespace talc
