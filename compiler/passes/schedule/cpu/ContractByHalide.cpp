// SPDX-License-Identifier: Apache-2.0
// contract-by-halide: the products of contractions that assign-generators gave to Halide become calls.
//
//   task: rows x panels          for each group of panels
//                                  sums = @product(rows of x, panels of the weight)      code by Halide (hgen)
//                                  epilogue of the sums, store                           as in expand-contract
//
// The function takes all of k at once, and every sum is one chain of multiply-adds with k ascending, so that the bits
// are those of expand-contract. It has only a declaration here, whose attributes say what it computes, and hold the
// code that hgen made of that. hgen runs before anything is changed: what it fails at can still be left to
// expand-contract.
#include "compiler/generators/GeneratedCode.h"
#include "compiler/generators/cpu/Hgen.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/ContractEpilogue.h"
#include "compiler/passes/schedule/cpu/HalideBuffers.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Threading.h"

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

  std::string name() { return (kernelFunction().getName() + "_product").str(); }
  func::FuncOp kernelFunction() { return tasks->getParentOfType<func::FuncOp>(); }

  // What hgen needs to know; see tools/hgen/hgen.cpp.
  DictionaryAttr describe() {
    auto number = [&](StringRef name, int64_t value) { return e.b.getNamedAttr(name, e.b.getI64IntegerAttr(value)); };
    const int64_t rows = rowsOfTile();
    return e.b.getDictionaryAttr(
        {number("lanes", e.lanes), number("depth", plan.depth), number("panel", plan.panelLanes), number("rows", rows),
         number("columns", plan.pieceLanes(rows)), number("panels", plan.groupPanels(rows)),
         e.b.getNamedAttr("element", e.b.getStringAttr(elementFormat(weight.getType()).name))});
  }

  // With the code, if there is any.
  void expand(const GeneratedCode *code) {
    int64_t known = x.getType().getDimSize(0);
    int64_t blockRows = ShapedType::isDynamic(known) ? plan.blockRows : std::min(known, plan.blockRows);
    groupPanels = plan.groupPanels(rowsOfTile());
    func::FuncOp product = declare(code);
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
  int64_t rowsOfTile() const {
    int64_t known = x.getType().getDimSize(0);
    return ShapedType::isDynamic(known) ? plan.tileRows : std::min(known, plan.tileRows);
  }

  func::FuncOp declare(const GeneratedCode *code) {
    func::FuncOp kernel = kernelFunction();
    OpBuilder::InsertionGuard guard(e.b);
    e.b.setInsertionPoint(kernel);
    auto product = func::FuncOp::create(
        e.b, e.loc, name(), e.b.getFunctionType(SmallVector<Type>(3, e.b.getIndexType()), e.b.getI32Type()));
    product.setPrivate();
    product->setAttr(generatorAttr, kernel->getAttr(generatorAttr));
    product->setAttr(productAttr, describe());
    if (code)
      setGeneratedCode(product, name(), *code);
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
  int64_t groupPanels = 0;
};

// A kernel on its way.
struct Job {
  kernel::ContractOp op;
  OpBuilder builder;
  Emitter emitter;
  Product product;
  HgenRequest request;
  std::optional<GeneratedCode> code;
  std::string problem;

  Job(kernel::ContractOp op, kernel::TasksOp tasks, int64_t lanes, const std::string &processor)
      : op(op), builder(tasks), emitter(builder, op.getLoc(), lanes),
        product(emitter, tasks, op), request{product.name(), processor, product.describe()} {}

  bool isOptional() {
    return product.kernelFunction()->getAttrOfType<DictionaryAttr>(generatorAttr).contains(optionalKey);
  }
  // The first that fails and must not ends the others.
  LogicalResult run() {
    auto made = runHgen(request);
    if (made)
      code = std::move(*made);
    else
      problem = llvm::toString(made.takeError());
    return success(code || isOptional());
  }
};

struct ContractByHalide : talc::impl::ContractByHalideBase<ContractByHalide> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    std::vector<std::unique_ptr<Job>> jobs;
    auto result = getOperation().walk([&](kernel::ContractOp op) {
      auto generator = op->getParentOfType<func::FuncOp>()->getAttrOfType<DictionaryAttr>(generatorAttr);
      if (!generator || generator.getAs<StringAttr>(nameKey) != StringAttr::get(&getContext(), "halide"))
        return WalkResult::advance();
      kernel::TasksOp tasks = plannedTasksAround(op);
      if (tasks)
        jobs.push_back(std::make_unique<Job>(op, tasks, lanes, processor));
      return tasks ? WalkResult::advance() : WalkResult::interrupt();
    });
    if (result.wasInterrupted() || failed(make(jobs)))
      return signalPassFailure();
    for (std::unique_ptr<Job> &job : jobs)
      replace(*job);
  }

  LogicalResult make(std::vector<std::unique_ptr<Job>> &jobs) {
    if (processor.empty() ||
        succeeded(failableParallelForEach(&getContext(), jobs, [](std::unique_ptr<Job> &job) { return job->run(); })))
      return success();
    for (std::unique_ptr<Job> &job : jobs)
      if (!job->problem.empty() && !job->isOptional())
        return job->op.emitError() << job->problem;
    return failure();
  }

  void replace(Job &job) {
    if (!job.problem.empty()) {
      job.product.kernelFunction()->removeAttr(generatorAttr);
      job.op.emitWarning() << "kernel " << job.product.kernelFunction().getName()
                           << ": mlir makes the loops: " << job.problem;
      return;
    }
    job.product.expand(job.code ? &*job.code : nullptr);
    job.op.erase();
  }
};

}  // namespace
