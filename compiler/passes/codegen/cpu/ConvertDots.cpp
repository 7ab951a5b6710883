// SPDX-License-Identifier: Apache-2.0
// convert-dots: converts dot products of bytes, table lookups and ldexp to instructions of a CPU.
#include "compiler/passes/Passes.h"
#include "compiler/passes/codegen/cpu/Dots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace talc {
#define GEN_PASS_DEF_CONVERTDOTS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

struct Instructions {
  StringLiteral name;
  EmitDots dots;
  int64_t (*together)(kernel::DotOp dot);
  EmitLookUp lookUp;
};

constexpr Instructions known[] = {{"avx2", dotsByBytes, dotsTogether, lookUpByShuffle},
                                  {"vnni", dotByVnni, dotAlone, lookUpByShuffle},
                                  {"neon", dotByNeon, dotAlone, lookUpByNeon},
                                  {"dotprod", dotByNeonDots, dotAlone, lookUpByNeon}};

struct ConvertDots : talc::impl::ConvertDotsBase<ConvertDots> {
  using Base::Base;

  void runOnOperation() override {
    const auto *use = llvm::find_if(known, [&](const Instructions &those) { return those.name == instructions; });
    if (use == std::end(known)) {
      getOperation().emitError() << "unknown instructions for dot products: " << instructions;
      return signalPassFailure();
    }
    auto walked = getOperation().walk([&](Operation *op) {
      if (auto lookUp = dyn_cast<kernel::TableLookupOp>(op))
        return replace(lookUp, use->lookUp(lookUp));
      if (auto times = dyn_cast<kernel::LdexpOp>(op))
        return replace(times, byPower(times));
      return WalkResult::advance();
    });
    if (walked.wasInterrupted() || failed(convertDots(*use)))
      signalPassFailure();
  }

private:
  LogicalResult convertDots(const Instructions &use) {
    SmallVector<kernel::DotOp> dots;
    getOperation().walk([&](kernel::DotOp dot) { dots.push_back(dot); });
    llvm::DenseSet<Operation *> converted;
    for (kernel::DotOp dot : dots) {
      if (converted.contains(dot))
        continue;
      SmallVector<kernel::DotOp> run = runFrom(dot, use.together(dot));
      converted.insert_range(run);
      if (replace(run.back(), use.dots(run)).wasInterrupted())
        return failure();
      run.pop_back();
      for (kernel::DotOp link : llvm::reverse(run))
        link.erase();
    }
    return success();
  }

  // A dot product and those that add to its result one after the other, with the same range of codes.
  static SmallVector<kernel::DotOp> runFrom(kernel::DotOp dot, int64_t maxLength) {
    SmallVector<kernel::DotOp> run = {dot};
    while (static_cast<int64_t>(run.size()) < maxLength && run.back()->hasOneUse()) {
      auto next = dyn_cast<kernel::DotOp>(*run.back()->user_begin());
      if (!next || next->getBlock() != dot->getBlock() || next.getMaxCode() != dot.getMaxCode() ||
          next.getIsSigned() != dot.getIsSigned())
        break;
      run.push_back(next);
    }
    return run;
  }

  template <typename Op> WalkResult replace(Op op, Value by) {
    if (!by) {
      op.emitOpError() << "has " << cast<VectorType>(op.getType()).getDimSize(0) << kindOf(op) << "; " << instructions
                       << " has no instructions for them";
      return WalkResult::interrupt();
    }
    op.replaceAllUsesWith(by);
    op.erase();
    return WalkResult::advance();
  }

  // LLVM selects an instruction if there is one. llvm.intr.ldexp of MLIR takes only one exponent for all elements.
  static Value byPower(kernel::LdexpOp op) {
    OpBuilder b(op);
    return LLVM::CallIntrinsicOp::create(b, op.getLoc(), op.getType(), b.getStringAttr("llvm.ldexp"),
                                         {op.getX(), op.getExponent()})
        .getResults();
  }

  static StringRef kindOf(kernel::DotOp dot) {
    return dot.getMaxCode() > 127 ? " sums of wide codes" : dot.getIsSigned() ? " sums of signed codes" : " sums";
  }
  static StringRef kindOf(kernel::TableLookupOp) { return " places"; }
  static StringRef kindOf(kernel::LdexpOp) { return " numbers"; }
};

}  // namespace
