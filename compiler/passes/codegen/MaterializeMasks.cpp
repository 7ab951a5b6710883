// SPDX-License-Identifier: Apache-2.0
// materialize-masks: expands vector.create_mask into a comparison of lane indices.
//
//   vector.create_mask %n : vector<8xi1>  ->  arith.cmpi sgt, splat(%n), [0, 1, ..., 7]
//
// Upstream has the pattern in convert-vector-to-llvm, which has many other patterns and is slower. convert-to-llvm
// handles all other vector ops of kernels.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_MATERIALIZEMASKS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;

namespace {

// Masks with a constant number of lanes.
struct KnownLanes : OpRewritePattern<vector::ConstantMaskOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(vector::ConstantMaskOp op, PatternRewriter &rewriter) const override {
    auto type = op.getType();
    if (type.getRank() != 1)
      return rewriter.notifyMatchFailure(op, "the vector has several dimensions");
    SmallVector<bool> lanes(type.getDimSize(0));
    std::fill_n(lanes.begin(), op.getMaskDimSizes().front(), true);
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, DenseElementsAttr::get(type, lanes));
    return success();
  }
};

struct MaterializeMasks : talc::impl::MaterializeMasksBase<MaterializeMasks> {
  void runOnOperation() override {
    int64_t masks = 0;
    getOperation().walk([&](vector::CreateMaskOp) { ++masks; });
    talc::PassRemarks("codegen", "materialize-masks").did(getOperation(), [&] {
      return llvm::formatv("{0} masks of vectors become comparisons", masks);
    });
    RewritePatternSet patterns(&getContext());
    vector::populateVectorMaskMaterializationPatterns(patterns, /*force32BitVectorIndices=*/true);
    patterns.add<KnownLanes>(&getContext());
    walkAndApplyPatterns(getOperation(), std::move(patterns));
  }
};

}  // namespace
