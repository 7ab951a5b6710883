// SPDX-License-Identifier: Apache-2.0
// The storage format bf16: the upper half of an f32.
#include "dialects/talc/formats/HalfFloats.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/IR/BuiltinTypes.h"

namespace talc {

static mlir::Type type(mlir::MLIRContext *context, const StorageFormat &) {
  return mlir::BFloat16Type::get(context);
}

extern const StorageFormat bf16Format;
const StorageFormat bf16Format = {"bf16",
                                  1,
                                  2,
                                  /*exact=*/false,
                                  type,
                                  decodeHalfWords<bf16ToFloat>,
                                  encodeHalfWords<floatToBf16, 0x7f80>,
                                  /*fields=*/{},
                                  /*listed=*/true,
                                  /*scaleValues=*/0,
                                  /*assemble=*/nullptr,
                                  /*integers=*/false,
                                  /*isUpperHalf=*/true};

}  // namespace talc
