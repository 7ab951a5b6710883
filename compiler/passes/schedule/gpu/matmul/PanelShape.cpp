// SPDX-License-Identifier: Apache-2.0
// Panels of groups that do not fill their last one have columns at other places than panels alone would.
#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"

using namespace mlir;

namespace talc {

static int64_t dimension(Value memref, unsigned at) {
  return cast<ShapedType>(memref.getType()).getDimSize(at);
}

PanelShape::PanelShape(kernel::MatmulOp op)
    : count(dimension(op.getWeight(), 0)), depth(dimension(op.getWeight(), 1)), lanes(dimension(op.getWeight(), 2)),
      parts(op.getGated() ? 2 : 1), columns(lanes / parts), groups(op.getGroups()), groupPanels(count / groups),
      groupColumns(dimension(op.getInit(), 1) / groups), groupFeatures(dimension(op.getX(), 1) / groups) {}

bool PanelShape::startsAtMultiples(kernel::MatmulOp op, int64_t count) const {
  auto [strides, offset] = cast<MemRefType>(op.getX().getType()).getStridesAndOffset();
  auto isMultiple = [&](int64_t value) { return !ShapedType::isDynamic(value) && value % count == 0; };
  return isMultiple(strides[0]) && isMultiple(offset) && (groups == 1 || isMultiple(groupFeatures));
}

Value PanelShape::firstFeature(Emitter &e, Value panel) const {
  return groups == 1 ? e.index(0) : e.mul(e.div(panel, groupPanels), groupFeatures);
}

Value PanelShape::columnOf(Emitter &e, Value panel, Value lane) const {
  if (groups == 1)
    return e.add(e.mul(panel, columns), lane);
  Value inGroup = e.add(e.mul(e.rem(panel, groupPanels), columns), lane);
  return e.add(e.mul(e.div(panel, groupPanels), groupColumns), inGroup);
}

Value PanelShape::hasColumn(Emitter &e, Value panel, Value lane) const {
  Value own = groups == 1 ? panel : e.rem(panel, groupPanels);
  Value inGroup = e.less(e.add(e.mul(own, columns), lane), e.index(groupColumns));
  return groups == 1 ? inGroup : arith::AndIOp::create(e.b, e.loc, inGroup, e.less(panel, e.index(count)));
}

// Whether rows of a buffer, or a vector, hold `count` numbers side by side from every multiple of it on.
static bool hasMultiples(Value buffer, int64_t count) {
  auto [strides, offset] = cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  bool fits = strides.back() == 1 && !ShapedType::isDynamic(offset) && offset % count == 0;
  for (int64_t stride : ArrayRef(strides).drop_back())
    fits &= !ShapedType::isDynamic(stride) && stride % count == 0;
  return fits;
}

bool PanelShape::holdTogether(kernel::MatmulOp op, int64_t count) const {
  bool fits = groupColumns % count == 0 && columns % count == 0 && hasMultiples(op.getInit(), count);
  for (Value input : op.getInputs())
    fits &= hasMultiples(input, count);
  return fits;
}

}  // namespace talc
