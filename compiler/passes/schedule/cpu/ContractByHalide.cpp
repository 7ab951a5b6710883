// SPDX-License-Identifier: Apache-2.0
// contract-by-halide: the products of contractions that assign-generators gave to Halide become calls.
//
//   task: rows x panels          for each group of panels
//                                  sums = @product(rows of x, panels of the weight)      code by Halide (hgen)
//                                  epilogue of the sums, store                           as in expand-contract
//
// The function takes all of k at once, and every sum is one chain of multiply-adds with k ascending, so that the bits
// are those of expand-contract. It has only a declaration here, whose attribute says what it computes: hgen makes its
// code when the target compiles the function that calls it.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/ContractEpilogue.h"
#include "compiler/passes/schedule/cpu/Generators.h"
#include "compiler/passes/schedule/cpu/HalideBuffers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace talc {
#define GEN_PASS_DEF_CONTRACTBYHALIDE
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

class Product {
public:
  Product(Emitter &e, kernel::TasksOp tasks, kernel::ContractOp op)
      : c{op, ContractPlan(op, e.lanes, tasks.getPlanAttr()), e}, plan(c.plan), e(e), tasks(tasks),
        x(cast<TypedValue<MemRefType>>(op.getX())), weight(cast<TypedValue<MemRefType>>(op.getWeight())) {}

  void expand() {
    int64_t known = x.getType().getDimSize(0);
    tileOfRows = ShapedType::isDynamic(known) ? plan.tileRows : std::min(known, plan.tileRows);
    int64_t blockRows = ShapedType::isDynamic(known) ? plan.blockRows : std::min(known, plan.blockRows);
    groupPanels = plan.groupPanels(plan.tileRows);
    func::FuncOp product = declare();
    // In front of the tasks, so that the stack belongs to the function's frame.
    HalideBuffers buffers(e, {2, 3, 2});
    Value stack = plan.sumsInResult() ? Value() : e.stackBuffer({blockRows, groupPanels * plan.panelLanes});
    tasks.getExtentsMutable().assign({e.rows(x), e.index(plan.panels)});
    tasks.setGrain({plan.blockRows, plan.taskPanels});
    e.b.setInsertionPoint(c.op);
    Value first = tasks.part(0), rows = e.sub(tasks.part(1), first);
    e.loop(tasks.part(2), tasks.part(3), groupPanels, [&](Value panel) {
      Value panels = e.min(e.index(groupPanels), e.sub(tasks.part(3), panel));
      WaitingSums sums = {stack, first, panel};
      call(product, buffers, sums, rows, panels);
      emitEpilogue(c, sums, rows, panels, panel);
    });
  }

private:
  // What hgen needs to know; see tools/hgen/hgen.cpp.
  DictionaryAttr describe() {
    auto number = [&](StringRef name, int64_t value) { return e.b.getNamedAttr(name, e.b.getI64IntegerAttr(value)); };
    return e.b.getDictionaryAttr(
        {number("lanes", e.lanes), number("depth", plan.depth), number("panel", plan.panelLanes),
         number("rows", tileOfRows), number("columns", plan.pieceLanes(tileOfRows)),
         e.b.getNamedAttr("element", e.b.getStringAttr(elementFormat(weight.getType()).name))});
  }

  func::FuncOp declare() {
    auto kernel = tasks->getParentOfType<func::FuncOp>();
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(kernel);
    auto product =
        func::FuncOp::create(e.b, e.loc, (kernel.getName() + "_product").str(),
                             e.b.getFunctionType(SmallVector<Type>(3, e.b.getIndexType()), e.b.getI32Type()));
    product.setPrivate();
    product->setAttr(generatorAttr, kernel->getAttr(generatorAttr));
    product->setAttr(productAttr, describe());
    return product;
  }

  void call(func::FuncOp product, HalideBuffers &buffers, const WaitingSums &sums, Value rows, Value panels) {
    auto sumsMemory = cast<TypedValue<MemRefType>>(sums.memory(c));
    Value zero = e.index(0), depth = e.index(plan.depth), lanes = e.index(plan.panelLanes);
    auto rowStride = [&](TypedValue<MemRefType> memory) {
      return e.index(memory.getType().getStridesAndOffset().first[0]);
    };
    Value columns = e.mul(panels, plan.panelLanes);
    SmallVector<Value> arguments = {
        buffers.fill(0, x, {sums.firstRow, zero}, {{depth, e.index(1)}, {rows, rowStride(x)}}),
        buffers.fill(1, weight, {sums.firstPanel, zero, zero},
                     {{lanes, e.index(1)}, {depth, lanes}, {panels, e.mul(depth, lanes)}}),
        buffers.fill(2, sumsMemory, {sums.row(c, zero), sums.column(c, sums.firstPanel)},
                     {{columns, e.index(1)}, {rows, rowStride(sumsMemory)}})};
    func::CallOp::create(e.b, e.loc, product, arguments);
  }

  const ContractCode c;
  const ContractPlan &plan;
  Emitter &e;
  kernel::TasksOp tasks;
  const TypedValue<MemRefType> x, weight;
  int64_t tileOfRows = 0, groupPanels = 0;
};

struct ContractByHalide : talc::impl::ContractByHalideBase<ContractByHalide> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::ContractOp> contracts;
    getOperation().walk([&](kernel::ContractOp op) {
      auto generator = op->getParentOfType<func::FuncOp>()->getAttrOfType<StringAttr>(generatorAttr);
      if (generator && generator == "halide")
        contracts.push_back(op);
    });
    for (kernel::ContractOp op : contracts) {
      kernel::TasksOp tasks = plannedTasksAround(op);
      if (!tasks)
        return signalPassFailure();
      OpBuilder builder(tasks);
      Emitter emitter(builder, op.getLoc(), lanes);
      Product(emitter, tasks, op).expand();
      op.erase();
    }
  }
};

}  // namespace
