// SPDX-License-Identifier: Apache-2.0
// Indices are 64 bits, two registers of a thread. Where a kernel is said to need all of its registers, those that are
// known to be small, such as what lanes and columns of a tile are computed from, become numbers of 32 bits. Elsewhere
// it does harm: a single row's contraction of two panels had three fifths more instructions, and a prompt's attention
// by matrices of 96 features spilled.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/gpu/WorkgroupEmitter.h"

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
    if (!getOperation()->hasAttr(narrowAttr))
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
