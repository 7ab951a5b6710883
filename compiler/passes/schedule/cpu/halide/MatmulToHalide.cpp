// SPDX-License-Identifier: Apache-2.0
// matmul-to-halide: replaces the products of matmuls that assign-generators gave to Halide by calls.
//
//   task: rows x panels          for each group of panels
//                                  sums = @halide(rows of x,  panels of the weight)      code by Halide (hgen)
//                                  epilogue of the sums, store                           as in expand-matmul
//
// The function takes all of k at once, and every sum is one chain of multiply-adds with k ascending, so that the bits
// are those of expand-matmul.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Isa.h"
#include "compiler/passes/schedule/cpu/halide/HalideBuffers.h"
#include "compiler/passes/schedule/cpu/halide/HalideKernel.h"
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace talc {
#define GEN_PASS_DEF_MATMULTOHALIDE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

class HalideMatmul {
public:
  HalideMatmul(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op)
      : c(makeMatmulContext(e, tasks, op)), op(op), plan(c.plan), e(e), tasks(tasks),
        x(cast<TypedValue<MemRefType>>(op.getX())), weight(cast<TypedValue<MemRefType>>(op.getWeight())) {}

  func::FuncOp kernelFunction() { return tasks->getParentOfType<func::FuncOp>(); }

  // The specification for hgen; see tools/hgen/hgen.cpp.
  DictionaryAttr describe() {
    const int64_t rows = tileRows();
    auto number = [&](StringRef key, int64_t value) { return integerEntry(e.b.getContext(), key, value); };
    auto text = [&](StringRef key, StringRef value) { return stringEntry(e.b.getContext(), key, value); };
    return e.b.getDictionaryAttr({text("kind", "matmul"), number("lanes", e.lanes), number("depth", plan.shape.k),
                                  number("panel", plan.shape.panelLanes), number("rows", rows),
                                  number("columns", plan.sliceLanes(rows)), number("panels", plan.groupPanels(rows)),
                                  text("element", elementFormat(weight.getType()).name)});
  }

  void expand(const HalideFunction &function) {
    int64_t rowCount = x.getType().getDimSize(0);
    int64_t blockRows =
        ShapedType::isDynamic(rowCount) ? plan.tunables.blockRows : std::min(rowCount, plan.tunables.blockRows);
    groupPanels = plan.groupPanels(tileRows());
    func::FuncOp callee = function.declare(kernelFunction(), 3);
    // Before the tasks, so that the stack belongs to the function's frame.
    HalideBuffers buffers(e, {2, 3, 2});
    Value stack = plan.sumsWaitInResult() ? Value() : e.stackBuffer({blockRows, groupPanels * plan.shape.panelLanes});
    tasks.getExtentsMutable().assign({e.rows(x), e.index(plan.shape.panels)});
    tasks.setGrain({plan.tunables.blockRows, plan.tunables.taskPanels});
    e.b.setInsertionPoint(op);
    Value first = tasks.part(0), rows = e.sub(tasks.part(1), first);
    e.loop(tasks.part(2), tasks.part(3), groupPanels, [&](Value panel) {
      Value panels = e.min(e.index(groupPanels), e.sub(tasks.part(3), panel));
      StoredSums sums = {stack, first, panel};
      call(callee, buffers, sums, rows, panels);
      c.finish(c, sums, rows, panels, panel);
    });
  }

private:
  int64_t tileRows() const {
    int64_t rowCount = x.getType().getDimSize(0);
    return ShapedType::isDynamic(rowCount) ? plan.tunables.tileRows : std::min(rowCount, plan.tunables.tileRows);
  }

  void call(func::FuncOp callee, HalideBuffers &buffers, const StoredSums &sums, Value rows, Value panels) {
    auto sumsMemory = cast<TypedValue<MemRefType>>(sums.memory(c));
    Value zero = e.index(0), depth = e.index(plan.shape.k), lanes = e.index(plan.shape.panelLanes);
    auto rowStride = [&](TypedValue<MemRefType> memory) {
      return e.index(memory.getType().getStridesAndOffset().first[0]);
    };
    Value columns = e.mul(panels, plan.shape.panelLanes);
    SmallVector<Value> arguments = {
        buffers.fill(0, x, {sums.firstRow, zero}, {{depth, e.index(1)}, {rows, rowStride(x)}}),
        buffers.fill(1, weight, {sums.firstPanel, zero, zero},
                     {{lanes, e.index(1)}, {depth, lanes}, {panels, e.mul(depth, lanes)}}),
        buffers.fill(2, sumsMemory, {sums.row(c, zero), sums.column(c, sums.firstPanel)},
                     {{columns, e.index(1)}, {rows, rowStride(sumsMemory)}})};
    func::CallOp::create(e.b, e.loc, callee, arguments);
  }

  const MatmulContext c;
  kernel::MatmulOp op;
  const MatmulPlan &plan;
  Emitter &e;
  kernel::TasksOp tasks;
  const TypedValue<MemRefType> x, weight;
  int64_t groupPanels = 0;
};

class MatmulKernel final : public HalideKernel {
public:
  MatmulKernel(kernel::MatmulOp op, kernel::TasksOp tasks, const IsaTraits &traits, const std::string &processor)
      : op(op), builder(tasks), emitter(builder, op.getLoc(), traits),
        matmul(emitter, tasks, op), function{matmul.kernelFunction(), "_halide", processor, matmul.describe()} {}

  SmallVector<HalideFunction *> functions() override { return {&function}; }

  void replace() override {
    matmul.expand(function);
    op.erase();
  }

private:
  kernel::MatmulOp op;
  OpBuilder builder;
  Emitter emitter;
  HalideMatmul matmul;
  HalideFunction function;
};

struct MatmulToHalide : talc::impl::MatmulToHalideBase<MatmulToHalide> {
  using Base::Base;
  void runOnOperation() override {
    std::optional<IsaTraits> traits = getIsaTraits(getOperation(), lanes);
    auto make = [&](Operation *compute, std::unique_ptr<HalideKernel> &result) {
      auto op = dyn_cast<kernel::MatmulOp>(compute);
      kernel::TasksOp tasks = op ? getPlannedTasks(op) : kernel::TasksOp();
      if (tasks)
        result = std::make_unique<MatmulKernel>(op, tasks, *traits, processor);
      return success(!op || tasks);
    };
    if (!traits || failed(replaceByHalide(getOperation(), make)))
      signalPassFailure();
  }
};

}  // namespace
