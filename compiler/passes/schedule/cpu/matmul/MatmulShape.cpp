// SPDX-License-Identifier: Apache-2.0
// Reads the shape of a matmul from its op.
#include "compiler/passes/schedule/cpu/matmul/MatmulShape.h"

using namespace mlir;

namespace talc {

static MemRefType bufferType(Value value) {
  return cast<MemRefType>(value.getType());
}

static int64_t expertCount(kernel::ExpertsOp op) {
  return bufferType(op.getRoutes()).getDimSize(1);
}

MatmulShape::MatmulShape(MemRefType x, MemRefType weight, int64_t panels, int64_t n, int64_t groups, bool isGated,
                         bool hasResultSlots)
    : x(x), weight(weight), panels(panels), n(n), groups(groups), isGated(isGated), hasResultSlots(hasResultSlots),
      k(weight.getDimSize(1)), panelLanes(weight.getDimSize(2)), panelColumns(isGated ? panelLanes / 2 : panelLanes),
      groupFeatures(x.getDimSize(1) / groups), weightFormat(&elementFormat(weight)) {
  lineElements = cacheLineBytes * weightFormat->blockValues / weightFormat->blockBytes;
}

MatmulShape::MatmulShape(kernel::MatmulOp op)
    : MatmulShape(bufferType(op.getX()), bufferType(op.getWeight()), bufferType(op.getWeight()).getDimSize(0),
                  bufferType(op.getInit()).getDimSize(1), static_cast<int64_t>(op.getGroups()), op.getGated(),
                  /*hasResultSlots=*/true) {}

// The results of a row's experts are added up, so that a single sum has no element of its own.
MatmulShape::MatmulShape(kernel::ExpertsOp op)
    : MatmulShape(bufferType(op.getX()), bufferType(op.getWeight()),
                  bufferType(op.getWeight()).getDimSize(0) / expertCount(op),
                  bufferType(op.getInit()).getDimSize(1) / static_cast<int64_t>(op.getGated() ? op.getSlots() : 1),
                  /*groups=*/1, op.getGated(), /*hasResultSlots=*/false) {}

}  // namespace talc
