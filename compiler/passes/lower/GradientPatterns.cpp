// SPDX-License-Identifier: Apache-2.0
// Patterns that lower the operations of backward functions. Forms that have no pattern stay, and are refused by name.
#include "compiler/passes/lower/TalcToKernel.h"
#include "dialects/kernel/gradients/GradientOps.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;

namespace talc {

namespace {

int64_t countColumns(Value value) {
  return cast<ShapedType>(value.getType()).getDimSize(1);
}

struct LowerGetGradient : OpRewritePattern<GetGradientOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GetGradientOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<kernel::GradientOp>(op, op.getType(), getStepArgument(op), op.getNameAttr(),
                                                    IntegerAttr());
    return success();
  }
};

//===--- gradients of weights -----------------------------------------------------------------------------------===//

struct LowerLinearWgrad : OpRewritePattern<LinearWgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LinearWgradOp op, PatternRewriter &rewriter) const override {
    if (op.getGroups() != 1 || op.getBuffer().getType().getDimSize(1) != countColumns(op.getX()))
      return rewriter.notifyMatchFailure(op, "the linear has groups");
    rewriter.replaceOpWithNewOp<kernel::LinearWgradOp>(op, getStepArgument(op), op.getGradient(), op.getX(),
                                                       op.getBuffer());
    return success();
  }
};

struct LowerSumRows : OpRewritePattern<SumRowsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SumRowsOp op, PatternRewriter &rewriter) const override {
    rewriter.replaceOpWithNewOp<kernel::SumRowsOp>(op, getStepArgument(op), op.getGradient(), op.getBuffer());
    return success();
  }
};

template <typename Op> void scatter(Op op, kernel::GatherIndex index, int64_t offset, PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<kernel::ScatterAddOp>(op, index, getStepArgument(op), op.getGradient(), op.getBuffer(),
                                                    offset);
}

struct LowerEmbeddingWgrad : OpRewritePattern<EmbeddingWgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(EmbeddingWgradOp op, PatternRewriter &rewriter) const override {
    scatter(op, kernel::GatherIndex::ids, -static_cast<int64_t>(op.getFirst()), rewriter);
    return success();
  }
};

struct LowerPositionWgrad : OpRewritePattern<PositionWgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PositionWgradOp op, PatternRewriter &rewriter) const override {
    if (op.getIds())
      return rewriter.notifyMatchFailure(op, "positions leave out padding");
    scatter(op, kernel::GatherIndex::positions, static_cast<int64_t>(op.getOffset()), rewriter);
    return success();
  }
};

struct LowerTokenTypeWgrad : OpRewritePattern<TokenTypeWgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TokenTypeWgradOp op, PatternRewriter &rewriter) const override {
    scatter(op, kernel::GatherIndex::types, 0, rewriter);
    return success();
  }
};

//===--- gradients of activations -------------------------------------------------------------------------------===//

struct LowerNormDgrad : OpRewritePattern<NormDgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NormDgradOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::NormDgradOp>(op, op.getType(), getStepArgument(op), op.getGradient(), op.getX(),
                                                     op.getScale(), init, op.getKind(), op.getEpsilon(),
                                                     op.getGroups());
    return success();
  }
};

struct LowerRopeDgrad : OpRewritePattern<RopeDgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RopeDgradOp op, PatternRewriter &rewriter) const override {
    if (!op.getTable())
      return rewriter.notifyMatchFailure(op, "the rope has no table");
    Value init = emptyLike(rewriter, op.getGradient(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::RopeDgradOp>(op, op.getType(), getStepArgument(op), op.getGradient(),
                                                     op.getTable(), init, op.getHeads(), op.getLast(), op.getDigits());
    return success();
  }
};

struct LowerSoftmaxDgrad : OpRewritePattern<SoftmaxDgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SoftmaxDgradOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getY(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::SoftmaxDgradOp>(op, op.getType(), getStepArgument(op), op.getGradient(),
                                                        op.getY(), init);
    return success();
  }
};

struct LowerPlace : OpRewritePattern<PlaceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PlaceOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getGradient(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::PlaceOp>(op, op.getType(), getStepArgument(op), op.getGradient(), init,
                                                 op.getOffset());
    return success();
  }
};

struct LowerSpread : OpRewritePattern<SpreadOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SpreadOp op, PatternRewriter &rewriter) const override {
    Value step = getStepArgument(op), rows = kernel::TokenCountOp::create(rewriter, op.getLoc(), step);
    Value init = emptyTensor(rewriter, op.getLoc(), op.getType(), rows);
    rewriter.replaceOpWithNewOp<kernel::SpreadOp>(op, op.getType(), step, op.getGradient(), init, op.getOutput());
    return success();
  }
};

// The three gradients are parts of one tensor.
struct LowerAttentionDgrad : OpRewritePattern<AttentionDgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AttentionDgradOp op, PatternRewriter &rewriter) const override {
    if (op.getBias() || op.getSinks())
      return rewriter.notifyMatchFailure(op, "the attention has a bias or sinks");
    int64_t queries = countColumns(op.getQueries()), keys = countColumns(op.getKeys());
    auto type = RankedTensorType::get({ShapedType::kDynamic, queries + 2 * keys}, rewriter.getF32Type());
    Value init = emptyLike(rewriter, op.getQueries(), type);
    auto gradients = kernel::AttentionDgradOp::create(
        rewriter, op.getLoc(), type, getStepArgument(op), op.getGradient(), op.getQueries(), op.getKeys(),
        op.getValues(), init, op.getMask(), op.getHeads(), op.getKvHeads(), op.getScale(), op.getWindow(), op.getCap());
    SmallVector<Value> parts;
    int64_t offset = 0;
    for (Type part : op.getResultTypes()) {
      int64_t width = cast<RankedTensorType>(part).getDimSize(1);
      SmallVector<OpFoldResult> offsets = {rewriter.getIndexAttr(0), rewriter.getIndexAttr(offset)};
      SmallVector<OpFoldResult> sizes = {rowCount(rewriter, op.getQueries()), rewriter.getIndexAttr(width)};
      SmallVector<OpFoldResult> strides(2, rewriter.getIndexAttr(1));
      parts.push_back(tensor::ExtractSliceOp::create(rewriter, op.getLoc(), cast<RankedTensorType>(part),
                                                     gradients.getResult(0), offsets, sizes, strides));
      offset += width;
    }
    rewriter.replaceOp(op, parts);
    return success();
  }
};

struct LowerCrossEntropy : OpRewritePattern<CrossEntropyOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CrossEntropyOp op, PatternRewriter &rewriter) const override {
    Value logits = op.getLogits(), step = getStepArgument(op);
    auto makeInit = [&](Value result) { return emptyLike(rewriter, logits, result.getType()); };
    auto loss = kernel::TokenLossOp::create(rewriter, op.getLoc(), op.getLoss().getType(), step, logits,
                                            makeInit(op.getLoss()), op.getSmoothing());
    auto gradient = kernel::LossDgradOp::create(rewriter, op.getLoc(), op.getGradient().getType(), step, logits,
                                                makeInit(op.getGradient()), op.getSmoothing());
    rewriter.replaceOp(op, {loss.getResult(0), gradient.getResult(0)});
    return success();
  }
};

}  // namespace

void addGradientPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerGetGradient, LowerLinearWgrad, LowerSumRows, LowerEmbeddingWgrad, LowerPositionWgrad,
               LowerTokenTypeWgrad, LowerNormDgrad, LowerRopeDgrad, LowerSoftmaxDgrad, LowerPlace, LowerSpread,
               LowerAttentionDgrad, LowerCrossEntropy>(patterns.getContext());
}

}  // namespace talc
