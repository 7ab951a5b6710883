// SPDX-License-Identifier: Apache-2.0
// convert-dots: dot products of bytes become instructions of a processor.
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
  EmitDot emit;
};

constexpr Instructions known[] = {
    {"avx2", dotByBytes}, {"vnni", dotByVnni}, {"neon", dotByNeon}, {"dotprod", dotByNeonDots}};

struct ConvertDots : talc::impl::ConvertDotsBase<ConvertDots> {
  using Base::Base;

  void runOnOperation() override {
    const auto *use = llvm::find_if(known, [&](const Instructions &those) { return those.name == instructions; });
    if (use == std::end(known)) {
      getOperation().emitError() << "there are no instructions " << instructions << " for dot products";
      return signalPassFailure();
    }
    SmallVector<kernel::DotOp> dots;
    getOperation().walk([&](kernel::DotOp dot) { dots.push_back(dot); });
    for (kernel::DotOp dot : dots) {
      Value sums = use->emit(dot);
      if (!sums) {
        dot.emitOpError() << "has " << cast<VectorType>(dot.getType()).getDimSize(0) << " sums"
                          << (dot.getWide()       ? " of wide levels"
                              : dot.getIsSigned() ? " of signed levels"
                                                  : "")
                          << "; " << instructions << " has no instructions for them";
        return signalPassFailure();
      }
      dot.replaceAllUsesWith(sums);
      dot.erase();
    }
  }
};

}  // namespace
