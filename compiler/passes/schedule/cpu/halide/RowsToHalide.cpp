// SPDX-License-Identifier: Apache-2.0
// rows-to-halide: replaces what row-wise ops do with their columns, in the kernels that assign-generators gave to
// Halide, by calls.
//
//   task: rows      for each row (and head, or group)
//                     @halide(buffers that are read, and written)      code by Halide (hgen)
//
// The outer loops are those of expand-rows. Sums have the order that they have there, so that the bits are the same.
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

class RowKernel final : public HalideKernel {
public:
  RowKernel(func::FuncOp kernel, RowExpressions &&code, const RowTunables &plan, const IsaTraits &traits,
            const std::string &processor)
      : kernel(kernel), row(std::move(code)), traits(traits), function(kernel, "_halide", processor, describe(plan)) {}

  SmallVector<HalideFunction *> functions() override { return {&function}; }

  // Replaces the kernel by its copy, and the copy's work on vectors by a call at the end of their block.
  void replace() override {
    func::FuncOp callee = function.declare(kernel, row.loads.size() + row.stores.size());
    func::FuncOp copy = row.kernel.release();
    kernel->getBlock()->getOperations().insert(kernel->getIterator(), copy);
    kernel.erase();
    OpBuilder builder(kernel::getTasks(copy));
    Emitter e(builder, copy.getLoc(), traits);
    HalideBuffers buffers(e, SmallVector<int64_t>(row.loads.size() + row.stores.size(), 1));
    for (size_t i = 0; i < row.loads.size() + row.stores.size(); ++i)
      buffers.describe(i, {{e.index(row.width), e.index(1)}});
    e.b.setInsertionPoint(row.work.front()->getBlock()->getTerminator());
    Emitter::Values arguments;
    auto pass = [&](auto memory, ValueRange indices) {
      arguments.push_back(buffers.setAddress(arguments.size(), cast<TypedValue<MemRefType>>(memory), indices));
    };
    for (Operation *op : row.loads)
      pass(cast<vector::LoadOp>(op).getBase(), cast<vector::LoadOp>(op).getIndices());
    for (Operation *op : row.stores)
      pass(cast<vector::StoreOp>(op).getBase(), cast<vector::StoreOp>(op).getIndices());
    func::CallOp::create(e.b, e.loc, callee, arguments);
    for (Operation *op : llvm::reverse(row.work))
      op->erase();
  }

private:
  DictionaryAttr describe(const RowTunables &plan) {
    auto number = [&](StringRef key, int64_t value) { return integerEntry(kernel.getContext(), key, value); };
    auto text = [&](StringRef key, StringRef value) { return stringEntry(kernel.getContext(), key, value); };
    return DictionaryAttr::get(kernel.getContext(),
                               {text("kind", "row"), number("lanes", traits.lanes), number("unroll", plan.unroll),
                                number("width", row.width), text("code", row.code)});
  }

  func::FuncOp kernel;
  RowExpressions row;
  const IsaTraits traits;
  HalideFunction function;
};

struct RowsToHalide : talc::impl::RowsToHalideBase<RowsToHalide> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    if (!traits ||
        failed(replaceByHalide(getOperation(), [&](Operation *op, auto &result) { return make(op, *traits, result); })))
      signalPassFailure();
  }

  LogicalResult make(Operation *op, const IsaTraits &traits, std::unique_ptr<HalideKernel> &result) {
    auto kernel = op->getParentOfType<func::FuncOp>();
    std::string why;
    RowTunables plan;
    readPlan(kernel::TasksOp::around(op).getPlanAttr(), RowTunables::parameters(), plan);
    if (std::optional<RowExpressions> row = buildRowExpressions(op, why))
      result = std::make_unique<RowKernel>(kernel, std::move(*row), plan, traits, processor);
    else
      kernel.emitError() << "Halide cannot make this kernel: " << why;
    return success(result != nullptr);
  }
};

}  // namespace
