// SPDX-License-Identifier: Apache-2.0
// simplify-gradients: writes gradients with operations of forward functions where these can say the same.
//
//   linear_dgrad %g, %w         ->   linear %g, transpose(%w)
//   norm_wgrad %g, %x into %b   ->   sum_rows (%g * norm(%x, 1)) into %b
//
// Sums have the same terms in the same order: outputs ascending, tokens ascending.
#include "compiler/passes/Passes.h"
#include "dialects/talc/gradients/Differentiable.h"

#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace talc {
#define GEN_PASS_DEF_SIMPLIFYGRADIENTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct SimplifyLinearDgrad : OpRewritePattern<LinearDgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LinearDgradOp op, PatternRewriter &rewriter) const override {
    auto weight = cast<RankedTensorType>(op.getWeight().getType());
    if (op.getGroups() != 1 || weight.getDimSize(1) != cast<RankedTensorType>(op.getType()).getDimSize(1))
      return rewriter.notifyMatchFailure(op, "the linear has groups");
    auto type = RankedTensorType::get({weight.getDimSize(1), weight.getDimSize(0)}, weight.getElementType());
    Value transposed = DeriveOp::create(rewriter, op.getLoc(), type, TransposeRecipeAttr::get(getContext()),
                                        ValueRange(op.getWeight()));
    rewriter.replaceOpWithNewOp<LinearOp>(op, op.getType(), op.getGradient(), transposed, Value());
    return success();
  }
};

struct SimplifyNormWgrad : OpRewritePattern<NormWgradOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(NormWgradOp op, PatternRewriter &rewriter) const override {
    auto type = cast<RankedTensorType>(op.getX().getType());
    auto vector = RankedTensorType::get(op.getBuffer().getType().getShape(), rewriter.getF32Type());
    auto one = FillSourceAttr::get(getContext(), llvm::APFloat(1.0));
    Location loc = op.getLoc();
    Value ones = DeriveOp::create(rewriter, loc, vector, one, ValueRange());
    Value normalized =
        NormOp::create(rewriter, loc, type, op.getKind(), op.getX(), ones, Value(), op.getEpsilon(), op.getGroups());
    Value products = MulOp::create(rewriter, loc, op.getGradient(), normalized);
    rewriter.replaceOpWithNewOp<SumRowsOp>(op, products, op.getBuffer());
    return success();
  }
};

struct SimplifyGradients : talc::impl::SimplifyGradientsBase<SimplifyGradients> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<SimplifyLinearDgrad, SimplifyNormWgrad>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

}  // namespace
