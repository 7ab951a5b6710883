// SPDX-License-Identifier: Apache-2.0
// Rules of the operations that treat every token alone: layers, norms, elementwise functions.
#include "dialects/talc/gradients/Differentiable.h"

using namespace mlir;

namespace talc {

namespace {

struct LinearGradient : Rule<LinearGradient, LinearOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const { return {cast<LinearOp>(op).getX()}; }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto linear = cast<LinearOp>(op);
    if (cast<RankedTensorType>(linear.getWeight().getType()).getRank() != 2)
      return op->emitOpError("has a packed weight, for which there is no gradient");
    Location loc = op->getLoc();
    Value gradient = gradients.front();
    uint64_t groups = linear.getGroups();
    if (vjp.wants(linear.getX()))
      vjp.add(linear.getX(), LinearDgradOp::create(vjp.builder, loc, linear.getX().getType(), gradient,
                                                   vjp.value(linear.getWeight()), groups));
    if (Value buffer = vjp.buffer(linear.getWeight()))
      LinearWgradOp::create(vjp.builder, loc, gradient, vjp.value(linear.getX()), buffer, groups);
    if (Value buffer = linear.getBias() ? vjp.buffer(linear.getBias()) : Value())
      SumRowsOp::create(vjp.builder, loc, gradient, buffer);
    return success();
  }
};

struct NormGradient : CheapRule<NormGradient, NormOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const { return {cast<NormOp>(op).getX()}; }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto norm = cast<NormOp>(op);
    Location loc = op->getLoc();
    Value gradient = gradients.front(), x = vjp.value(norm.getX());
    if (vjp.wants(norm.getX()))
      vjp.add(norm.getX(),
              NormDgradOp::create(vjp.builder, loc, x.getType(), norm.getKindAttr(), gradient, x,
                                  vjp.value(norm.getScale()), norm.getEpsilonAttr(), norm.getGroupsAttr()));
    if (Value buffer = vjp.buffer(norm.getScale()))
      NormWgradOp::create(vjp.builder, loc, norm.getKindAttr(), gradient, x, buffer, norm.getEpsilonAttr(),
                          norm.getGroupsAttr());
    if (Value buffer = norm.getBias() ? vjp.buffer(norm.getBias()) : Value())
      SumRowsOp::create(vjp.builder, loc, gradient, buffer);
    return success();
  }
};

struct ActivationGradient : CheapRule<ActivationGradient, ActivationOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const { return {cast<ActivationOp>(op).getX()}; }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto activation = cast<ActivationOp>(op);
    Value x = vjp.value(activation.getX());
    vjp.add(activation.getX(), ActivationDgradOp::create(vjp.builder, op->getLoc(), x.getType(), activation.getKind(),
                                                         gradients.front(), x));
    return success();
  }
};

struct SoftmaxGradient : CheapRule<SoftmaxGradient, SoftmaxOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const { return {op->getResult(0)}; }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    Value y = vjp.value(op->getResult(0));
    vjp.add(cast<SoftmaxOp>(op).getX(),
            SoftmaxDgradOp::create(vjp.builder, op->getLoc(), y.getType(), gradients.front(), y));
    return success();
  }
};

struct ClampGradient : CheapRule<ClampGradient, ClampOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const { return {cast<ClampOp>(op).getX()}; }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto clamp = cast<ClampOp>(op);
    Value x = vjp.value(clamp.getX());
    vjp.add(clamp.getX(),
            ClampDgradOp::create(vjp.builder, op->getLoc(), x.getType(), gradients.front(), x, clamp.getBoundAttr()));
    return success();
  }
};

struct AddGradient : CheapRule<AddGradient, AddOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    for (Value operand : op->getOperands())
      if (vjp.wants(operand))
        vjp.add(operand, gradients.front());
    return success();
  }
};

struct MulGradient : CheapRule<MulGradient, MulOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const { return llvm::to_vector(op->getOperands()); }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto mul = cast<MulOp>(op);
    for (auto [operand, other] : {std::pair(mul.getLhs(), mul.getRhs()), {mul.getRhs(), mul.getLhs()}})
      if (vjp.wants(operand))
        vjp.add(operand, MulOp::create(vjp.builder, op->getLoc(), gradients.front(), vjp.value(other)));
    return success();
  }
};

struct ScaleGradient : CheapRule<ScaleGradient, ScaleOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto scale = cast<ScaleOp>(op);
    vjp.add(scale.getX(),
            ScaleOp::create(vjp.builder, op->getLoc(), scale.getType(), gradients.front(), scale.getFactorAttr()));
    return success();
  }
};

struct RopeGradient : CheapRule<RopeGradient, RopeOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto rope = cast<RopeOp>(op);
    Value table = rope.getTable() ? vjp.value(rope.getTable()) : Value();
    vjp.add(rope.getX(),
            RopeDgradOp::create(vjp.builder, op->getLoc(), rope.getType(), gradients.front(),
                                vjp.value(rope.getSequences()), table, rope.getHeadsAttr(), rope.getRotaryAttr(),
                                rope.getBaseAttr(), rope.getScalingAttr(), rope.getLastAttr(), rope.getDigitsAttr()));
    return success();
  }
};

}  // namespace

void attachLayerGradients(MLIRContext &context) {
  LinearOp::attachInterface<LinearGradient>(context);
  NormOp::attachInterface<NormGradient>(context);
  ActivationOp::attachInterface<ActivationGradient>(context);
  SoftmaxOp::attachInterface<SoftmaxGradient>(context);
  ClampOp::attachInterface<ClampGradient>(context);
  AddOp::attachInterface<AddGradient>(context);
  MulOp::attachInterface<MulGradient>(context);
  ScaleOp::attachInterface<ScaleGradient>(context);
  RopeOp::attachInterface<RopeGradient>(context);
}

}  // namespace talc
