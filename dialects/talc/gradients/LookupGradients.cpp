// SPDX-License-Identifier: Apache-2.0
// Rules of lookups, of selections of tokens and features, and where rules are attached.
#include "dialects/talc/gradients/Differentiable.h"

using namespace mlir;

namespace talc {

namespace {

struct EmbeddingGradient : Rule<EmbeddingGradient, EmbeddingOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto embedding = cast<EmbeddingOp>(op);
    if (Value buffer = vjp.buffer(embedding.getTable()))
      EmbeddingWgradOp::create(vjp.builder, op->getLoc(), vjp.value(embedding.getIds()), gradients.front(), buffer,
                               embedding.getFirst().value_or(0));
    return success();
  }
};

struct PositionGradient : Rule<PositionGradient, PositionOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto position = cast<PositionOp>(op);
    Value buffer = vjp.buffer(position.getTable());
    if (!buffer)
      return success();
    Value ids = position.getIds() ? vjp.value(position.getIds()) : Value();
    PositionWgradOp::create(vjp.builder, op->getLoc(), vjp.value(position.getSequences()), gradients.front(), buffer,
                            ids, position.getOffsetAttr(), position.getPaddingAttr());
    return success();
  }
};

struct TokenTypeGradient : Rule<TokenTypeGradient, TokenTypeOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto type = cast<TokenTypeOp>(op);
    if (Value buffer = vjp.buffer(type.getTable()))
      TokenTypeWgradOp::create(vjp.builder, op->getLoc(), vjp.value(type.getSequences()), gradients.front(), buffer);
    return success();
  }
};

struct SelectGradient : Rule<SelectGradient, SelectOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto select = cast<SelectOp>(op);
    vjp.add(select.getX(), SpreadOp::create(vjp.builder, op->getLoc(), select.getX().getType(), gradients.front(),
                                            vjp.value(select.getSequences()), select.getOutputAttr()));
    return success();
  }
};

struct SliceGradient : CheapRule<SliceGradient, SliceOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto slice = cast<SliceOp>(op);
    vjp.add(slice.getX(), PlaceOp::create(vjp.builder, op->getLoc(), slice.getX().getType(), gradients.front(),
                                          slice.getOffsetAttr()));
    return success();
  }
};

struct JoinGradient : CheapRule<JoinGradient, JoinOp> {
  LogicalResult buildVjp(Operation *op, llvm::ArrayRef<Value> gradients, Vjp &vjp) const {
    auto join = cast<JoinOp>(op);
    uint64_t heads = join.getHeads();
    int64_t width = cast<RankedTensorType>(join.getX().getType()).getDimSize(1);
    for (auto [operand, offset] : {std::pair(join.getX(), int64_t(0)), {join.getY(), width / int64_t(heads)}})
      if (vjp.wants(operand))
        vjp.add(operand, SliceHeadsOp::create(vjp.builder, op->getLoc(), operand.getType(), gradients.front(), heads,
                                              static_cast<uint64_t>(offset)));
    return success();
  }
};

}  // namespace

void attachLookupGradients(MLIRContext &context) {
  EmbeddingOp::attachInterface<EmbeddingGradient>(context);
  PositionOp::attachInterface<PositionGradient>(context);
  TokenTypeOp::attachInterface<TokenTypeGradient>(context);
  SelectOp::attachInterface<SelectGradient>(context);
  SliceOp::attachInterface<SliceGradient>(context);
  JoinOp::attachInterface<JoinGradient>(context);
}

void attachGradients(MLIRContext &context) {
  attachLayerGradients(context);
  attachExpertGradients(context);
  attachLookupGradients(context);
  attachAttentionGradient(context);
}

}  // namespace talc
