// SPDX-License-Identifier: Apache-2.0
// Recognizes operations of an epilogue by their other operand: a vector, or a buffer with a row for each token.
#include "dialects/kernel/ops/FusedOps.h"
#include "dialects/kernel/ops/ComputeOpSizes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc::kernel {

// The other buffer that the op combines with the value computed so far; null if there is none.
static Value otherBuffer(Operation &op, unsigned values, ValueRange others) {
  for (Value operand : op.getOperands())
    if (auto argument = dyn_cast<BlockArgument>(operand))
      if (argument.getOwner() == op.getBlock() && argument.getArgNumber() >= values)
        return others[argument.getArgNumber() - values];
  return {};
}

static std::string describe(Operation &op, Value other) {
  if (auto activation = op.getAttrOfType<StringAttr>(activationAttr))
    return activation.str();
  bool isVector = other && getShapedType(other).getRank() == 1;
  if (isa<arith::AddFOp>(op) && other)
    return isVector ? "bias" : "residual";
  if (isa<arith::MulFOp>(op) && other)
    return isVector ? "scale" : "product";
  if (isa_and_nonnull<math::MathDialect>(op.getDialect()) && op.hasOneUse() && !isa<math::ExpOp, math::ErfOp>(op))
    return op.getName().stripDialect().str();
  return "";
}

SmallVector<std::string> fusedOps(Block &body, unsigned values, ValueRange others) {
  SmallVector<std::string> parts;
  for (Operation &op : body)
    if (std::string part = describe(op, otherBuffer(op, values, others)); !part.empty())
      parts.push_back(part);
  return parts;
}

}  // namespace talc::kernel
