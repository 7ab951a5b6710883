// SPDX-License-Identifier: Apache-2.0
// Maps panels and lanes to columns. The last panel of each group may be partly empty.
#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"

using namespace mlir;

namespace talc {

static int64_t dimSize(Value memref, unsigned at) {
  return cast<ShapedType>(memref.getType()).getDimSize(at);
}

PanelShape::PanelShape(kernel::MatmulOp op)
    : count(dimSize(op.getWeight(), 0)), depth(dimSize(op.getWeight(), 1)), lanes(dimSize(op.getWeight(), 2)),
      parts(op.getGated() ? 2 : 1), columns(lanes / parts), groups(op.getGroups()), groupPanels(count / groups),
      groupColumns(dimSize(op.getInit(), 1) / groups), groupFeatures(dimSize(op.getX(), 1) / groups) {}

bool PanelShape::hasAlignedRows(kernel::MatmulOp op, int64_t count) const {
  auto [strides, offset] = cast<MemRefType>(op.getX().getType()).getStridesAndOffset();
  auto isMultiple = [&](int64_t value) { return !ShapedType::isDynamic(value) && value % count == 0; };
  return isMultiple(strides[0]) && isMultiple(offset) && (groups == 1 || isMultiple(groupFeatures));
}

Value PanelShape::firstFeature(Emitter &e, Value panel) const {
  return groups == 1 ? e.index(0) : e.mul(e.div(panel, groupPanels), groupFeatures);
}

Value PanelShape::columnIndex(Emitter &e, Value panel, Value lane) const {
  if (groups == 1)
    return e.add(e.mul(panel, columns), lane);
  Value inGroup = e.add(e.mul(e.rem(panel, groupPanels), columns), lane);
  return e.add(e.mul(e.div(panel, groupPanels), groupColumns), inGroup);
}

Value PanelShape::hasColumn(Emitter &e, Value panel, Value lane) const {
  Value inGroup = groups == 1 ? panel : e.rem(panel, groupPanels);
  Value exists = e.less(e.add(e.mul(inGroup, columns), lane), e.index(groupColumns));
  return groups == 1 ? exists : arith::AndIOp::create(e.b, e.loc, exists, e.less(panel, e.index(count)));
}

// Whether every `count` values of a row, from a multiple of `count` on, are contiguous and aligned.
static bool hasAlignedVectors(Value buffer, int64_t count) {
  auto [strides, offset] = cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  bool isAligned = strides.back() == 1 && !ShapedType::isDynamic(offset) && offset % count == 0;
  for (int64_t stride : ArrayRef(strides).drop_back())
    isAligned &= !ShapedType::isDynamic(stride) && stride % count == 0;
  return isAligned;
}

bool PanelShape::canVectorizeColumns(kernel::MatmulOp op, int64_t count) const {
  bool isAligned = groupColumns % count == 0 && columns % count == 0 && hasAlignedVectors(op.getInit(), count);
  for (Value input : op.getInputs())
    isAligned &= hasAlignedVectors(input, count);
  return isAligned;
}

}  // namespace talc
