// SPDX-License-Identifier: Apache-2.0
// narrow-indices: computes small indices in 32 bits, where a kernel's launch asks for it.
//
// An index of 64 bits takes two registers. What lanes and columns of a tile are computed from is known to be small.
// Kernels that have registers to spare keep 64 bits, since conversions are additional instructions.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;

namespace talc {
#define GEN_PASS_DEF_NARROWINDICES
#include "compiler/passes/Passes.h.inc"

namespace {

struct NarrowIndices : impl::NarrowIndicesBase<NarrowIndices> {
  void runOnOperation() override {
    kernel::LaunchAttr launch = kernel::LaunchAttr::lookup(getOperation());
    if (!launch || !launch.getNarrowIndices())
      return;
    OpPassManager passes(func::FuncOp::getOperationName());
    passes.addPass(arith::createArithIntRangeOpts());
    passes.addPass(arith::createArithIntRangeNarrowing({{32}}));
    if (failed(runPipeline(passes, getOperation())))
      signalPassFailure();
  }
};

}  // namespace
}  // namespace talc
