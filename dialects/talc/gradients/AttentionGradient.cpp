// SPDX-License-Identifier: Apache-2.0
// The rule of attention among the tokens of a step.
#include "dialects/talc/gradients/Differentiable.h"

using namespace mlir;

namespace talc {

namespace {

struct AttentionGradient : Rule<AttentionGradient, AttentionOp> {
  llvm::SmallVector<Value> getNeeded(Operation *op) const {
    auto attention = cast<AttentionOp>(op);
    return {attention.getQueries(), attention.getKeys(), attention.getValues()};
  }

  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto attention = cast<AttentionOp>(op);
    if (attention.getSinkQueries() || attention.getRowBias())
      return op->emitOpError("has sink tokens or a bias for each query, for which there is no gradient");
    if (attention.getBias() && vjp.buffer(attention.getBias()))
      return op->emitOpError("has a bias that is trained, for which there is no gradient");
    Value buffer = attention.getSinks() ? vjp.buffer(attention.getSinks()) : Value();
    auto optionalValue = [&](Value weight) { return weight ? vjp.value(weight) : Value(); };
    auto gradient = AttentionDgradOp::create(
        vjp.builder, op->getLoc(),
        llvm::ArrayRef<Type>{attention.getQueries().getType(), attention.getKeys().getType(),
                             attention.getValues().getType()},
        gradients.front(), vjp.value(attention.getQueries()), vjp.value(attention.getKeys()),
        vjp.value(attention.getValues()), vjp.value(attention.getSequences()), optionalValue(attention.getBias()),
        optionalValue(attention.getSinks()), buffer, attention.getMaskAttr(), attention.getHeadsAttr(),
        attention.getKvHeadsAttr(), attention.getScaleAttr(), attention.getWindowAttr(), attention.getCapAttr(),
        attention.getAbsoluteAttr());
    for (auto [operand, result] : {std::pair(attention.getQueries(), gradient.getDqueries()),
                                   {attention.getKeys(), gradient.getDkeys()},
                                   {attention.getValues(), gradient.getDvalues()}})
      if (vjp.wants(operand))
        vjp.add(operand, result);
    return success();
  }
};

}  // namespace

void attachAttentionGradient(MLIRContext &context) {
  AttentionOp::attachInterface<AttentionGradient>(context);
}

}  // namespace talc
