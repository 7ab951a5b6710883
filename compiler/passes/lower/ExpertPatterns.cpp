// SPDX-License-Identifier: Apache-2.0
// A mixture of experts becomes two ops: the gated projections for the slots of every token, then the down projections,
// which are summed over the slots.
#include "compiler/passes/lower/TalcToKernel.h"

#include "dialects/kernel/KernelDialect.h"
#include "dialects/talc/TalcDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace talc {

namespace {

struct LowerRoute : OpRewritePattern<RouteOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RouteOp op, PatternRewriter &rewriter) const override {
    Value init = emptyLike(rewriter, op.getX(), op.getType());
    rewriter.replaceOpWithNewOp<kernel::RouteOp>(op, op.getType(), getStepArgument(op), op.getX(), op.getBias(), init,
                                                 op.getCount(), op.getNormalized(), op.getGroups(), op.getTopkGroups(),
                                                 op.getGroupBest());
    return success();
  }
};

// experts(x, routes, gate and up, down)  ->  activation(gate) * up for each slot, then the sum over the slots
struct LowerExperts : OpRewritePattern<ExpertsOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ExpertsOp op, PatternRewriter &rewriter) const override {
    if (op.getUp())
      return rewriter.notifyMatchFailure(op, "the weights are not packed");
    auto type = cast<RankedTensorType>(op.getType());
    int64_t inner = cast<ShapedType>(op.getDown().getType()).getDimSize(1);
    auto hidden = RankedTensorType::get({type.getDimSize(0), static_cast<int64_t>(op.getChosen()) * inner},
                                        rewriter.getF32Type());
    ValueRange biases = op.getBiases();
    bool biased = !biases.empty();
    Value first = half(rewriter, op, hidden, op.getX(), op.getGate(), true, biases.take_front(biased ? 2 : 0),
                       [&](ValueRange args) { return gatedBody(rewriter, op, args); });
    if (std::optional<Type> element = op.getRounding())
      first = rounded(rewriter, op, hidden.clone(*element), first);
    Value second = half(rewriter, op, type, first, op.getDown(), false, biases.take_back(biased ? 1 : 0),
                        [&](ValueRange args) -> Value {
                          Value sum = args[0];
                          if (biased)
                            sum = arith::AddFOp::create(rewriter, op.getLoc(), sum, args[3]);
                          Value weighed = arith::MulFOp::create(rewriter, op.getLoc(), sum, args[1]);
                          return arith::AddFOp::create(rewriter, op.getLoc(), args[2], weighed);
                        });
    rewriter.replaceOp(op, second);
    return success();
  }

  // Slots that a token does not use are computed, too, but never read.
  static Value rounded(PatternRewriter &rewriter, ExpertsOp op, Type type, Value x) {
    Value init = emptyLike(rewriter, op.getX(), type);
    return kernel::QuantizeOp::create(rewriter, op.getLoc(), type, getStepArgument(op), x, init).getResult(0);
  }

  // activation(gate) * up, from the two sums and their biases.
  static Value gatedBody(OpBuilder &b, ExpertsOp op, ValueRange args) {
    Location loc = op.getLoc();
    Value gate = args[0], up = args[1];
    if (args.size() == 4) {
      gate = arith::AddFOp::create(b, loc, gate, args[2]);
      up = arith::AddFOp::create(b, loc, up, args[3]);
    }
    if (double clamp = op.getClamp().convertToDouble(); clamp > 0) {
      auto constant = [&](double value) -> Value {
        return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
      };
      gate = arith::MinimumFOp::create(b, loc, gate, constant(clamp));
      up = arith::MaximumFOp::create(b, loc, up, constant(-clamp));
      up = arith::MinimumFOp::create(b, loc, up, constant(clamp));
      up = arith::AddFOp::create(b, loc, up, constant(1));
    }
    return arith::MulFOp::create(b, loc, activationBody(b, loc, op.getKind(), gate), up);
  }

  static Value half(PatternRewriter &rewriter, ExpertsOp op, Type type, Value x, Value weight, bool gated,
                    ValueRange biases, llvm::function_ref<Value(ValueRange)> body) {
    Location loc = op.getLoc();
    Value init = emptyLike(rewriter, op.getX(), type);
    auto experts = kernel::ExpertsOp::create(rewriter, loc, type, getStepArgument(op), x, op.getRoutes(), weight,
                                             biases, init, op.getChosen(), gated);
    OpBuilder::InsertionGuard guard(rewriter);
    SmallVector<Type> types((gated ? 2 : 3) + biases.size(), rewriter.getF32Type());
    Block *block = rewriter.createBlock(&experts.getEpilogue(), {}, types, SmallVector<Location>(types.size(), loc));
    kernel::YieldOp::create(rewriter, loc, body(block->getArguments()));
    return experts.getResult(0);
  }
};

}  // namespace

void addExpertPatterns(RewritePatternSet &patterns) {
  patterns.add<LowerRoute, LowerExperts>(patterns.getContext());
}

}  // namespace talc
