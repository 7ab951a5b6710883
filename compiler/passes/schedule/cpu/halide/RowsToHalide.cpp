// SPDX-License-Identifier: Apache-2.0
// rows-to-halide: what row pieces do with their columns, of the kernels that assign-generators gave to Halide, becomes
// calls.
//
//   task: rows      for each row (and head, or group)
//                     @line(what is read, what is written)             code by Halide (hgen)
//
// The loops outside are those of expand-rows. Sums have the order that they have there, so that the bits are the same.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/Tunables.h"
#include "compiler/passes/schedule/cpu/halide/HalideBuffers.h"
#include "compiler/passes/schedule/cpu/halide/HalideKernel.h"
#include "compiler/passes/schedule/cpu/halide/RowExpressions.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace talc {
#define GEN_PASS_DEF_ROWSTOHALIDE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

class LineKernel final : public HalideKernel {
public:
  LineKernel(func::FuncOp kernel, RowExpressions &&code, const RowTunables &plan, const IsaTraits &traits,
             const std::string &processor)
      : kernel(kernel), line(std::move(code)), traits(traits), function(kernel, "_halide", processor, describe(plan)) {}

  SmallVector<HalideFunction *> functions() override { return {&function}; }

  // The copy of the kernel takes its place; the work on vectors becomes a call at the end of its block.
  void replace() override {
    func::FuncOp callee = function.declare(kernel, line.read.size() + line.written.size());
    func::FuncOp copy = line.kernel.release();
    kernel->getBlock()->getOperations().insert(kernel->getIterator(), copy);
    kernel.erase();
    OpBuilder builder(kernel::getTasks(copy));
    Emitter e(builder, copy.getLoc(), traits);
    HalideBuffers buffers(e, SmallVector<int64_t>(line.read.size() + line.written.size(), 1));
    for (size_t i = 0; i < line.read.size() + line.written.size(); ++i)
      buffers.describe(i, {{e.index(line.width), e.index(1)}});
    e.b.setInsertionPoint(line.work.front()->getBlock()->getTerminator());
    Emitter::Values arguments;
    auto pass = [&](auto memory, ValueRange indices) {
      arguments.push_back(buffers.place(arguments.size(), cast<TypedValue<MemRefType>>(memory), indices));
    };
    for (Operation *op : line.read)
      pass(cast<vector::LoadOp>(op).getBase(), cast<vector::LoadOp>(op).getIndices());
    for (Operation *op : line.written)
      pass(cast<vector::StoreOp>(op).getBase(), cast<vector::StoreOp>(op).getIndices());
    func::CallOp::create(e.b, e.loc, callee, arguments);
    for (Operation *op : llvm::reverse(line.work))
      op->erase();
  }

private:
  DictionaryAttr describe(const RowTunables &plan) {
    auto number = [&](StringRef key, int64_t value) { return numberEntry(kernel.getContext(), key, value); };
    auto text = [&](StringRef key, StringRef value) { return textEntry(kernel.getContext(), key, value); };
    return DictionaryAttr::get(kernel.getContext(),
                               {text("kind", "row"), number("lanes", traits.lanes), number("unroll", plan.unroll),
                                number("width", line.width), text("code", line.code)});
  }

  func::FuncOp kernel;
  RowExpressions line;
  const IsaTraits traits;
  HalideFunction function;
};

struct RowsToHalide : talc::impl::RowsToHalideBase<RowsToHalide> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits || failed(replaceByHalide(getOperation(),
                                          [&](Operation *piece, auto &made) { return make(piece, *traits, made); })))
      signalPassFailure();
  }

  LogicalResult make(Operation *piece, const IsaTraits &traits, std::unique_ptr<HalideKernel> &made) {
    auto kernel = piece->getParentOfType<func::FuncOp>();
    std::string why;
    RowTunables plan;
    readPlan(kernel::TasksOp::around(piece).getPlanAttr(), RowTunables::parameters(), plan);
    if (std::optional<RowExpressions> line = buildRowExpressions(piece, why))
      made = std::make_unique<LineKernel>(kernel, std::move(*line), plan, traits, processor);
    else
      kernel.emitError() << "cannot be Halide's: " << why;
    return success(made != nullptr);
  }
};

}  // namespace
