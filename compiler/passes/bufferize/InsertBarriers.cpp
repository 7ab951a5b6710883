// SPDX-License-Identifier: Apache-2.0
// insert-barriers: puts a barrier where data crosses threads.
//
// Every thread calls every kernel and does its share: row kernels (norm, rope, gather, append, elementwise) split the
// rows of the step, in the same way each; a contraction splits columns; attention splits heads and queries. Two
// neighbouring row kernels need no barrier, since a thread reads only rows that it wrote. Everything else does.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_INSERTBARRIERS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

namespace {

enum class Share { Nothing, Rows, Other };

// How a call divides its work; a call of a block counts as Other.
Share shareOf(func::FuncOp callee) {
  auto piece = callee->getAttrOfType<StringAttr>(kernel::kernelAttr);
  if (!piece || piece == "contract" || piece == "attention")
    return Share::Other;
  return Share::Rows;
}

struct InsertBarriers : talc::impl::InsertBarriersBase<InsertBarriers> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function->hasAttr(kernel::kernelAttr))
        separate(function, symbols);
  }

  // The runtime starts an entry function on all threads at once; a block starts where its caller left off.
  static void separate(func::FuncOp function, SymbolTable &symbols) {
    Share before = function->hasAttr(talc::entryAttr) ? Share::Nothing : Share::Other;
    for (auto call : llvm::to_vector(function.front().getOps<func::CallOp>())) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      bool isBlock = !callee->hasAttr(kernel::kernelAttr);
      Share share = shareOf(callee);
      bool separated = before == Share::Nothing || (before == Share::Rows && share == Share::Rows);
      if (!separated && !isBlock) {
        OpBuilder builder(call);
        kernel::BarrierOp::create(builder, call.getLoc(), function.getArgument(0));
      }
      before = share;
    }
  }
};

}  // namespace
