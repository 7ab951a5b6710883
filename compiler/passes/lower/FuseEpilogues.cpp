// SPDX-License-Identifier: Apache-2.0
// fuse-epilogues: fuses elementwise consumers of a matmul into its epilogue.
//
//   %y = matmul %x, %w {sum}                          %z = matmul %x, %w inputs(%r) {
//   %z = generic(%y, %r) { add }                  ->      add(sum, r) }
//
// Upstream elementwise fusion needs linalg.generic ops with parallel loops. A matmul with a packed weight is not one,
// and its epilogue must run on accumulators that stay in registers.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_FUSEEPILOGUES
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

// A consumer can be fused if it computes [T, N] from [T, N] operands and vectors of length N, element by element.
static bool isElementwise(linalg::GenericOp generic) {
  MLIRContext *context = generic.getContext();
  AffineMap identity = AffineMap::getMultiDimIdentityMap(2, context);
  AffineMap column = AffineMap::get(2, 0, getAffineDimExpr(1, context));
  if (generic.getNumResults() != 1 || generic.getNumParallelLoops() != 2 || generic.getNumLoops() != 2)
    return false;
  if (generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)) != identity ||
      generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0)))
    return false;
  return llvm::all_of(generic.getDpsInputOperands(), [&](OpOperand *operand) {
    AffineMap map = generic.getMatchingIndexingMap(operand);
    return map == identity || map == column;
  });
}

namespace {

constexpr talc::PassRemarks remarks("lower", "fuse-epilogues");

struct FuseEpilogue : OpRewritePattern<linalg::GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::GenericOp generic, PatternRewriter &rewriter) const override {
    if (!isElementwise(generic))
      return rewriter.notifyMatchFailure(generic, "not elementwise on rows");
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      auto matmul = operand->get().getDefiningOp<kernel::MatmulOp>();
      if (matmul && llvm::all_of(matmul->getUsers(), [&](Operation *user) { return user == generic; }) &&
          matmul->getBlock() == generic->getBlock()) {
        fuse(matmul, generic, rewriter);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(generic, "no operand is a matmul whose only user this is");
  }

  static void fuse(kernel::MatmulOp matmul, linalg::GenericOp generic, PatternRewriter &rewriter) {
    remarks.did(generic, [&] {
      return "elementwise consumers of the product with " + talc::storedName(matmul.getWeight()) +
             " are fused into its epilogue";
    });
    SmallVector<Value> inputs(matmul.getInputs());
    for (OpOperand *operand : generic.getDpsInputOperands())
      if (operand->get() != matmul.getResult(0))
        inputs.push_back(operand->get());
    Location loc = rewriter.getFusedLoc({matmul.getLoc(), generic.getLoc()});
    auto fused = kernel::MatmulOp::create(rewriter, loc, generic.getResultTypes(), matmul.getStep(), matmul.getX(),
                                          matmul.getWeight(), inputs, generic.getDpsInits()[0], matmul.getGated(),
                                          matmul.getGroups());
    rewriter.inlineRegionBefore(matmul.getEpilogue(), fused.getEpilogue(), fused.getEpilogue().end());
    appendBody(fused.getEpilogue().front(), matmul, generic, rewriter);
    rewriter.replaceOp(generic, fused.getResults());
    rewriter.eraseOp(matmul);
  }

  // Clones the body of the consumer after the epilogue.
  static void appendBody(Block &epilogue, kernel::MatmulOp matmul, linalg::GenericOp generic,
                         PatternRewriter &rewriter) {
    auto yield = cast<kernel::YieldOp>(epilogue.getTerminator());
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(yield);
    IRMapping mapping;
    for (OpOperand *operand : generic.getDpsInputOperands()) {
      Value argument = operand->get() == matmul.getResult(0)
                           ? yield.getValues()[0]
                           : epilogue.addArgument(rewriter.getF32Type(), generic.getLoc());
      mapping.map(generic.getMatchingBlockArgument(operand), argument);
    }
    for (Operation &op : generic.getBody()->without_terminator())
      rewriter.clone(op, mapping);
    Value result = mapping.lookupOrDefault(generic.getBody()->getTerminator()->getOperand(0));
    rewriter.replaceOpWithNewOp<kernel::YieldOp>(yield, result);
  }
};

struct FuseEpilogues : talc::impl::FuseEpiloguesBase<FuseEpilogues> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FuseEpilogue>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    getOperation().walk([](linalg::GenericOp generic) { explain(generic); });
  }

  // Reports why an op that reads the result of a matmul was not fused.
  static void explain(linalg::GenericOp generic) {
    for (Value operand : generic.getInputs())
      if (auto matmul = operand.getDefiningOp<kernel::MatmulOp>())
        remarks.declined(generic, [&] {
          StringRef reason = isElementwise(generic) ? "the result has other users" : "it is not elementwise on rows";
          return ("a consumer of the product with " + talc::storedName(matmul.getWeight()) + " is not fused: " + reason)
              .str();
        });
  }
};

}  // namespace
