// SPDX-License-Identifier: Apache-2.0
// outline-kernels: every piece becomes, with its tasks, a function of its own; equal ones share one.
//
//   kernel.tasks %step ... { kernel.norm %x, ... into %y }     ->     call @norm_0(%step, %x, ..., %y)
//
// Compile time and code size then grow with the number of different pieces. Upstream has no outlining that compares
// bodies: its single-block outlining makes one function per loop.
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
    SmallVector<kernel::TasksOp> pieces;
    getOperation().walk([&](kernel::TasksOp tasks) { pieces.push_back(tasks); });
    SymbolTable symbols(getOperation());
    llvm::StringMap<func::FuncOp> kernels;
    for (kernel::TasksOp tasks : pieces)
      if (!tasks->getParentOfType<func::FuncOp>()->hasAttr(kernel::kernelOpAttr))
        outline(tasks, symbols, kernels);
    talc::PassRemarks("bufferize", "outline-kernels").did(getOperation(), [&] {
      return llvm::formatv("{0} pieces are {1} different kernels", pieces.size(), kernels.size());
    });
  }

  void outline(kernel::TasksOp tasks, SymbolTable &symbols, llvm::StringMap<func::FuncOp> &kernels) {
    Operation *piece = tasks.getComputeOp();
    if (!piece) {
      tasks.emitOpError("holds no single piece");
      return signalPassFailure();
    }
    SetVector<Value> operands, captured;
    operands.insert(tasks.getStep());
    operands.insert_range(piece->getOperands());
    getUsedValuesDefinedAbove(tasks.getBody(), captured);
    SmallVector<Operation *> constants;
    for (Value value : captured) {
      Operation *definition = value.getDefiningOp();
      if (definition && definition->hasTrait<OpTrait::ConstantLike>())
        constants.push_back(definition);
      else
        operands.insert(value);
    }
    func::FuncOp made = makeKernel(tasks, operands.getArrayRef(), constants);
    // The printed body is the identity of a kernel: operations, shapes and attributes, without names.
    std::string text;
    llvm::raw_string_ostream stream(text);
    made.print(stream, OpPrintingFlags().useLocalScope());
    func::FuncOp &shared = kernels[text];
    if (shared) {
      made.erase();
    } else {
      shared = made;
      StringRef kind = piece->getName().stripDialect();
      made->setAttr(kernel::kernelOpAttr, StringAttr::get(&getContext(), kind));
      made.setName((kind + "_" + Twine(kernels.size() - 1)).str());
      symbols.insert(made);
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
