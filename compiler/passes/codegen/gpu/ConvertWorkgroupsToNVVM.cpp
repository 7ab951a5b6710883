// SPDX-License-Identifier: Apache-2.0
// convert-workgroups-to-nvvm: converts what upstream's conversions to LLVM leave to libraries or do not know.
//
//   gpu.thread_id, gpu.block_id, gpu.barrier, gpu.shuffle   ->   NVVM ops
//   exp x = 2^(x log2 e);  exp2 by ex2.approx (2 units in the last place);  tanh x = 1 - 2 / (exp 2x + 1);
//   log x = lg2 x ln 2, by lg2.approx;  erf is a polynomial
//
// Math functions are expanded for scalars, since special function units have no vectors. NvgpuPatterns.h lowers MMA and
// asynchronous copies.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/gpu/NvgpuPatterns.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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

// The approximate functions of the special function units have no NVVM ops.
Value callApproximation(OpBuilder &b, Location loc, StringRef intrinsic, Value x) {
  return LLVM::CallIntrinsicOp::create(b, loc, x.getType(), b.getStringAttr(intrinsic), x).getResult(0);
}

Value constant(OpBuilder &b, Location loc, double value) {
  return arith::ConstantOp::create(b, loc, b.getF32FloatAttr(static_cast<float>(value)));
}
Value constantI32(OpBuilder &b, Location loc, int64_t value) {
  return arith::ConstantIntOp::create(b, loc, value, 32);
}

Value expandExp2(OpBuilder &b, Location loc, Value x) {
  return callApproximation(b, loc, "llvm.nvvm.ex2.approx.f32", x);
}

// 2^(c x), corrected by the rounding error of the product, which matters where c x is large.
Value expandPower(OpBuilder &b, Location loc, Value x, double c) {
  Value factor = constant(b, loc, c), product = arith::MulFOp::create(b, loc, x, factor);
  Value low = math::FmaOp::create(b, loc, x, factor, arith::NegFOp::create(b, loc, product));
  Value power = expandExp2(b, loc, product);
  Value tail = arith::MulFOp::create(b, loc, power, arith::MulFOp::create(b, loc, low, constant(b, loc, M_LN2)));
  // The tail is left out where the power is infinite or the product is NaN.
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
  Value log2 = callApproximation(b, loc, "llvm.nvvm.lg2.approx.f", x);
  return arith::MulFOp::create(b, loc, log2, constant(b, loc, M_LN2));
}

// Expands a function of one f32.
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

void replaceWithIndex(PatternRewriter &rewriter, Operation *op, Value specialRegister) {
  rewriter.replaceOpWithNewOp<arith::IndexCastUIOp>(op, rewriter.getIndexType(), specialRegister);
}

LogicalResult convertThreadId(gpu::ThreadIdOp op, PatternRewriter &rewriter) {
  if (op.getDimension() != gpu::Dimension::x)
    return rewriter.notifyMatchFailure(op, "workgroups have one dimension");
  replaceWithIndex(rewriter, op, NVVM::ThreadIdXOp::create(rewriter, op.getLoc(), rewriter.getI32Type()));
  return success();
}

LogicalResult convertBlockId(gpu::BlockIdOp op, PatternRewriter &rewriter) {
  Type i32 = rewriter.getI32Type();
  if (op.getDimension() == gpu::Dimension::x)
    replaceWithIndex(rewriter, op, NVVM::BlockIdXOp::create(rewriter, op.getLoc(), i32));
  else if (op.getDimension() == gpu::Dimension::y)
    replaceWithIndex(rewriter, op, NVVM::BlockIdYOp::create(rewriter, op.getLoc(), i32));
  else
    return rewriter.notifyMatchFailure(op, "grids have two dimensions");
  return success();
}

LogicalResult convertBarrier(gpu::BarrierOp op, PatternRewriter &rewriter) {
  rewriter.replaceOpWithNewOp<NVVM::Barrier0Op>(op);
  return success();
}

// All threads of the warp take part.
LogicalResult convertShuffle(gpu::ShuffleOp op, PatternRewriter &rewriter) {
  if (op.getMode() != gpu::ShuffleMode::XOR || !op.getValue().getType().isF32() || !op.getValid().use_empty())
    return rewriter.notifyMatchFailure(op, "not a butterfly shuffle of f32");
  Location loc = op.getLoc();
  Value allLanes = constantI32(rewriter, loc, -1), lastLane = constantI32(rewriter, loc, 31);
  Value result = NVVM::ShflOp::create(rewriter, loc, rewriter.getF32Type(), allLanes, op.getValue(), op.getOffset(),
                                      lastLane, NVVM::ShflKind::bfly, UnitAttr());
  rewriter.replaceOp(op, ValueRange{result, allLanes});
  return success();
}

struct ConvertWorkgroupsToNVVM : talc::impl::ConvertWorkgroupsToNVVMBase<ConvertWorkgroupsToNVVM> {
  // MMA fragments are split into vectors.
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
    patterns.add(convertThreadId);
    patterns.add(convertBlockId);
    patterns.add(convertBarrier);
    patterns.add(convertShuffle);
    talc::addNvgpuPatterns(patterns);
    // Canonicalization turns insertions into fragments into vector.from_elements of two dimensions, which upstream's
    // conversion to LLVM does not take.
    vector::populateVectorFromElementsUnrollPatterns(patterns);
    populatePolynomialApproximateErfPattern(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))) || failed(checkMath()))
      signalPassFailure();
    talc::PassRemarks("codegen", "convert-workgroups-to-nvvm").did(getOperation(), [&] {
      return llvm::formatv("{0} buffers are in shared memory", buffers);
    });
  }

  // A buffer of the workgroup becomes a global variable in shared memory.
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

  // LLVM's backend aborts the process on a function that it would have to call in a library.
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
