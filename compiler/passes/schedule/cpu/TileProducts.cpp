// SPDX-License-Identifier: Apache-2.0
// Which way a contraction multiplies.
#include "compiler/passes/schedule/cpu/TileProducts.h"

#include "compiler/passes/schedule/cpu/IntegerBlocks.h"

using namespace mlir;

namespace talc {

// Vectors of four lanes are NEON's, for which there is no code of pairs.
const TileProducts &productsOf(kernel::ContractOp op, int64_t lanes) {
  auto x = cast<ShapedType>(op.getX().getType()), weight = cast<ShapedType>(op.getWeight().getType());
  Type rounded = x.getElementType();
  if (!isRounded(rounded))
    return widenedProducts;
  if (isa<FloatType>(rounded)) {
    bool pairs = lanes > 4 && weight.getElementType() == rounded && weight.getDimSize(1) % 2 == 0;
    return pairs ? pairProducts : widenedProducts;
  }
  return integerBlocks(elementFormat(weight).name) ? integerProducts : widenedProducts;
}

}  // namespace talc
