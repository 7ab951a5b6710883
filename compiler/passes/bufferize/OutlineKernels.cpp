// SPDX-License-Identifier: Apache-2.0
// outline-kernels: outlines every compute op with its tasks into a function; equal ones share one.
//
//   kernel.tasks %step ... { kernel.norm %x, ... into %y }     ->     call @norm_0(%step, %x, ..., %y)
//
// Compile time and code size then grow with the number of different ops. Upstream outlining does not compare bodies: it
// makes one function per loop.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

namespace {

struct OutlineKernels : talc::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    SmallVector<kernel::TasksOp> allTasks;
    getOperation().walk([&](kernel::TasksOp tasks) { allTasks.push_back(tasks); });
    SymbolTable symbols(getOperation());
    llvm::StringMap<func::FuncOp> kernels;
    for (kernel::TasksOp tasks : allTasks)
      if (!tasks->getParentOfType<func::FuncOp>()->hasAttr(kernel::kernelOpAttr))
        outline(tasks, symbols, kernels);
    talc::PassRemarks("bufferize", "outline-kernels").did(getOperation(), [&] {
      return llvm::formatv("{0} ops are {1} different kernels", allTasks.size(), kernels.size());
    });
  }

  void outline(kernel::TasksOp tasks, SymbolTable &symbols, llvm::StringMap<func::FuncOp> &kernels) {
    Operation *op = tasks.getComputeOp();
    if (!op) {
      tasks.emitOpError("does not hold a single compute op");
      return signalPassFailure();
    }
    SetVector<Value> operands, captured;
    operands.insert(tasks.getStep());
    operands.insert_range(op->getOperands());
    getUsedValuesDefinedAbove(tasks.getBody(), captured);
    SmallVector<Operation *> constants;
    for (Value value : captured) {
      Operation *definition = value.getDefiningOp();
      if (definition && definition->hasTrait<OpTrait::ConstantLike>())
        constants.push_back(definition);
      else
        operands.insert(value);
    }
    func::FuncOp outlined = makeKernel(tasks, operands.getArrayRef(), constants);
    // The printed body is the identity of a kernel: operations, shapes and attributes, without names.
    std::string text;
    llvm::raw_string_ostream stream(text);
    outlined.print(stream, OpPrintingFlags().useLocalScope());
    func::FuncOp &shared = kernels[text];
    if (shared) {
      outlined.erase();
    } else {
      shared = outlined;
      StringRef name = op->getName().stripDialect();
      outlined->setAttr(kernel::kernelOpAttr, StringAttr::get(&getContext(), name));
      outlined.setName((name + "_" + Twine(kernels.size() - 1)).str());
      symbols.insert(outlined);
    }
    OpBuilder builder(tasks);
    func::CallOp::create(builder, tasks.getLoc(), shared, operands.getArrayRef());
    tasks.erase();
  }

  func::FuncOp makeKernel(kernel::TasksOp tasks, ArrayRef<Value> operands, ArrayRef<Operation *> constants) {
    OpBuilder builder(&getContext());
    auto type = builder.getFunctionType(TypeRange(ValueRange(operands)), {});
    auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "kernel", type);
    function.setPrivate();
    Block *entry = function.addEntryBlock();
    builder.setInsertionPointToStart(entry);
    IRMapping mapping;
    for (auto [operand, argument] : llvm::zip(operands, entry->getArguments()))
      mapping.map(operand, argument);
    for (Operation *constant : constants)
      builder.clone(*constant, mapping);
    builder.clone(*tasks, mapping);
    func::ReturnOp::create(builder, builder.getUnknownLoc());
    return function;
  }
};

}  // namespace
