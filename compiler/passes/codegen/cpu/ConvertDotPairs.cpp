// SPDX-License-Identifier: Apache-2.0
// convert-dot-pairs: converts dot products of pairs of bf16 to instructions.
//
// vdpbf16ps multiplies and adds the odd elements of its operands, then the even ones, each with one rounding to nearest
// (Intel's manual, volume 2; AMD's CPUs do the same): two fused multiply-adds, except for subnormal numbers.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/Transforms.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace talc {
#define GEN_PASS_DEF_CONVERTDOTPAIRS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

namespace {

// A bf16 is the upper half of an f32: the upper one of a word is used as it is, the lower one is shifted up.
Value convertToF32(OpBuilder &b, Location loc, Value pairs, VectorType floats, bool odd) {
  auto words = floats.clone(b.getI32Type());
  auto constant = [&](int32_t value) {
    return arith::ConstantOp::create(b, loc, DenseIntElementsAttr::get(words, value));
  };
  Value word = vector::BitCastOp::create(b, loc, words, pairs);
  Value bits = odd ? arith::AndIOp::create(b, loc, word, constant(static_cast<int32_t>(0xffff0000))).getResult()
                   : arith::ShLIOp::create(b, loc, word, constant(16)).getResult();
  return arith::BitcastOp::create(b, loc, floats, bits);
}

Value byMultiplyAdds(kernel::DotPairsOp dot) {
  OpBuilder b(dot);
  auto floats = cast<VectorType>(dot.getType());
  Value sums = dot.getSums();
  for (bool odd : {true, false}) {
    Value weights = convertToF32(b, dot.getLoc(), dot.getWeights(), floats, odd);
    sums =
        vector::FMAOp::create(b, dot.getLoc(), weights, convertToF32(b, dot.getLoc(), dot.getX(), floats, odd), sums);
  }
  return sums;
}

Value byOne(kernel::DotPairsOp dot) {
  OpBuilder b(dot);
  return x86vector::DotBF16Op::create(b, dot.getLoc(), dot.getType(), dot.getSums(), dot.getWeights(), dot.getX());
}

struct ConvertDotPairs : talc::impl::ConvertDotPairsBase<ConvertDotPairs> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<kernel::DotPairsOp> dots;
    getOperation().walk([&](kernel::DotPairsOp dot) { dots.push_back(dot); });
    for (kernel::DotPairsOp dot : dots) {
      int64_t lanes = cast<VectorType>(dot.getType()).getDimSize(0);
      bool fits = lanes == 4 || lanes == 8 || lanes == 16;
      dot.replaceAllUsesWith(bf16 && fits ? byOne(dot) : byMultiplyAdds(dot));
      dot.erase();
    }
    if (bf16 && failed(toIntrinsics()))
      signalPassFailure();
  }

  LogicalResult toIntrinsics() {
    LLVMTypeConverter types(&getContext());
    RewritePatternSet patterns(&getContext());
    LLVMConversionTarget target(getContext());
    populateX86VectorLegalizeForLLVMExportPatterns(types, patterns);
    configureX86VectorLegalizeForExportTarget(target);
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};

}  // namespace
