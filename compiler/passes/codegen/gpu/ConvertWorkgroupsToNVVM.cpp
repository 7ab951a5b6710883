// SPDX-License-Identifier: Apache-2.0
// convert-workgroups-to-nvvm: what upstream's conversions to LLVM leave to libraries or do not know becomes intrinsics
// of NVIDIA GPUs.
//
//   exp x = 2^(x log2 e);  exp2 by ex2.approx (2 units in the last place);  tanh x = 1 - 2 / (exp 2x + 1);
//   log x = lg2 x ln 2, by lg2.approx;  erf is a polynomial
//
// The functions of math are scalars: special function units have no vectors. Matrices and asynchronous copies are those
// of NvgpuPatterns.h.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/gpu/NvgpuPatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/VectorRewritePatterns.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

namespace talc {
#define GEN_PASS_DEF_CONVERTWORKGROUPSTONVVM
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;

namespace {

constexpr int64_t sharedSpace = 3;  // of addresses

Value call(OpBuilder &b, Location loc, StringRef name, Type type, ValueRange arguments) {
  return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), arguments).getResult(0);
}

Value constant(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}
Value number(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value expandExp2(OpBuilder &b, Location loc, Value x) {
  return call(b, loc, "llvm.nvvm.ex2.approx.f32", x.getType(), x);
}

// 2^(c x), the product's rounding error taken in: c x is large where exp is.
Value expandPower(OpBuilder &b, Location loc, Value x, double c) {
  Value factor = constant(b, loc, c), product = arith::MulFOp::create(b, loc, x, factor);
  Value low = math::FmaOp::create(b, loc, x, factor, arith::NegFOp::create(b, loc, product));
  Value power = expandExp2(b, loc, product);
  Value tail = arith::MulFOp::create(b, loc, power, arith::MulFOp::create(b, loc, low, constant(b, loc, M_LN2)));
  // Where the power is infinite or the product is not a number, there is no tail.
  Value limit = constant(b, loc, 126), size = math::AbsFOp::create(b, loc, product);
  Value inside = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, size, limit);
  return arith::SelectOp::create(b, loc, inside, arith::AddFOp::create(b, loc, power, tail), power);
}

Value expandExp(OpBuilder &b, Location loc, Value x) {
  return expandPower(b, loc, x, llvm::numbers::log2e);
}

Value expandTanh(OpBuilder &b, Location loc, Value x) {
  Value one = constant(b, loc, 1), power = expandPower(b, loc, x, 2 * llvm::numbers::log2e);
  Value quotient = arith::DivFOp::create(b, loc, constant(b, loc, 2), arith::AddFOp::create(b, loc, power, one));
  return arith::SubFOp::create(b, loc, one, quotient);
}

Value expandLog(OpBuilder &b, Location loc, Value x) {
  Value log2 = call(b, loc, "llvm.nvvm.lg2.approx.f", x.getType(), x);
  return arith::MulFOp::create(b, loc, log2, constant(b, loc, M_LN2));
}

// Of a function of one f32.
template <typename Op> struct ExpandFunction : OpRewritePattern<Op> {
  using Expansion = Value (*)(OpBuilder &, Location, Value);

  ExpandFunction(MLIRContext *context, Expansion expansion)
      : OpRewritePattern<Op>(context, /*benefit=*/2), expansion(expansion) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    if (!op.getType().isF32())
      return rewriter.notifyMatchFailure(op, "not an f32");
    rewriter.replaceOp(op, expansion(rewriter, op.getLoc(), op.getOperand()));
    return success();
  }

  Expansion expansion;
};

// A register that numbers something, in a dimension.
template <typename Op> struct ReadNumber : OpRewritePattern<Op> {
  ReadNumber(MLIRContext *context, StringRef prefix) : OpRewritePattern<Op>(context), prefix(prefix) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    std::string name = (prefix + gpu::stringifyDimension(op.getDimension())).str();
    Value found = call(rewriter, op.getLoc(), name, rewriter.getI32Type(), {});
    rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, rewriter.getIndexType(), found);
    return success();
  }

  StringRef prefix;
};

LogicalResult convertBarrier(gpu::BarrierOp op, PatternRewriter &rewriter) {
  Value first = number(rewriter, op.getLoc(), 0);
  LLVM::CallIntrinsicOp::create(rewriter, op.getLoc(), rewriter.getStringAttr("llvm.nvvm.barrier.cta.sync.aligned.all"),
                                first);
  rewriter.eraseOp(op);
  return success();
}

// All threads of a subgroup take part.
LogicalResult convertShuffle(gpu::ShuffleOp op, PatternRewriter &rewriter) {
  if (op.getMode() != gpu::ShuffleMode::XOR || !op.getValue().getType().isF32() || !op.getValid().use_empty())
    return rewriter.notifyMatchFailure(op, "not a butterfly of f32");
  Location loc = op.getLoc();
  Value all = number(rewriter, loc, -1), last = number(rewriter, loc, 31);
  Value found = call(rewriter, loc, "llvm.nvvm.shfl.sync.bfly.f32", rewriter.getF32Type(),
                     {all, op.getValue(), op.getOffset(), last});
  rewriter.replaceOp(op, ValueRange{found, all});
  return success();
}

struct ConvertWorkgroupsToNVVM : talc::impl::ConvertWorkgroupsToNVVMBase<ConvertWorkgroupsToNVVM> {
  // Matrices are taken apart into vectors.
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertWorkgroupsToNVVMBase::getDependentDialects(registry);
    registry.insert<vector::VectorDialect>();
  }

  void runOnOperation() override {
    int64_t buffers = 0;
    SmallVector<memref::AllocaOp> allocas;
    getOperation().walk([&](memref::AllocaOp op) { allocas.push_back(op); });
    for (memref::AllocaOp op : allocas)
      if (isa_and_present<gpu::AddressSpaceAttr>(op.getType().getMemorySpace())) {
        makeGlobal(op);
        ++buffers;
      }
    MLIRContext *context = &getContext();
    RewritePatternSet patterns(context);
    patterns.add<ExpandFunction<math::ExpOp>>(context, expandExp);
    patterns.add<ExpandFunction<math::Exp2Op>>(context, expandExp2);
    patterns.add<ExpandFunction<math::TanhOp>>(context, expandTanh);
    patterns.add<ExpandFunction<math::LogOp>>(context, expandLog);
    patterns.add<ReadNumber<gpu::ThreadIdOp>>(context, "llvm.nvvm.read.ptx.sreg.tid.");
    patterns.add<ReadNumber<gpu::BlockIdOp>>(context, "llvm.nvvm.read.ptx.sreg.ctaid.");
    patterns.add(convertBarrier);
    patterns.add(convertShuffle);
    talc::addNvgpuPatterns(patterns);
    // Canonicalization made these of insertions into matrices, whose conversion knows one dimension.
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    populatePolynomialApproximateErfPattern(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) || failed(checkMath()))
      signalPassFailure();
    talc::PassRemarks("codegen", "convert-workgroups-to-nvvm").did(getOperation(), [&] {
      return llvm::formatv("{0} buffers lie in shared memory", buffers);
    });
  }

  // Memory of the workgroup is a variable of the kernel's own.
  void makeGlobal(memref::AllocaOp op) {
    auto function = op->getParentOfType<func::FuncOp>();
    OpBuilder b(function);
    auto type = MemRefType::get(op.getType().getShape(), op.getType().getElementType(), MemRefLayoutAttrInterface(),
                                b.getI64IntegerAttr(sharedSpace));
    int64_t number = 0;
    std::string name;
    do
      name = (function.getName() + "_shared_" + Twine(number++)).str();
    while (SymbolTable::lookupSymbolIn(getOperation(), name));
    memref::GlobalOp::create(b, op.getLoc(), name, b.getStringAttr("private"), type, b.getUnitAttr(), false,
                             b.getI64IntegerAttr(16));
    b.setInsertionPoint(op);
    Value buffer = memref::GetGlobalOp::create(b, op.getLoc(), type, name);
    for (Operation *user : op->getUsers())
      if (auto view = dyn_cast<memref::ViewOp>(user))
        view.getResult().setType(MemRefType::Builder(view.getType()).setMemorySpace(type.getMemorySpace()));
    op.replaceAllUsesWith(buffer);
    op.erase();
  }

  // LLVM's backend ends the process where it would need a library.
  LogicalResult checkMath() {
    WalkResult result = getOperation().walk([](Operation *op) -> WalkResult {
      if (!isa<math::MathDialect>(op->getDialect()) || isa<math::FmaOp, math::AbsFOp, math::SqrtOp>(op))
        return WalkResult::advance();
      return op->emitOpError("has no instructions on NVIDIA GPUs");
    });
    return failure(result.wasInterrupted());
  }
};

}  // namespace
