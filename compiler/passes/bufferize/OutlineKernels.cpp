// SPDX-License-Identifier: Apache-2.0
// outline-kernels: every piece becomes a function of its own; equal pieces share one.
//
//   kernel.norm rms %step, %x, ... into %y     ->     call @norm_0(%step, %x, ..., %y)
//
// Compile time and code size then grow with the number of different pieces. Upstream has no outlining that compares
// bodies: its single-block outlining makes one function per loop.
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/StringMap.h"

namespace talc {
#define GEN_PASS_DEF_OUTLINEKERNELS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

namespace {

struct OutlineKernels : talc::impl::OutlineKernelsBase<OutlineKernels> {
  void runOnOperation() override {
    SmallVector<kernel::PieceOpInterface> pieces;
    getOperation().walk([&](kernel::PieceOpInterface piece) { pieces.push_back(piece); });
    SymbolTable symbols(getOperation());
    llvm::StringMap<func::FuncOp> kernels;
    for (Operation *piece : pieces)
      outline(piece, symbols, kernels);
  }

  void outline(Operation *piece, SymbolTable &symbols, llvm::StringMap<func::FuncOp> &kernels) {
    SetVector<Value> operands, captured;
    operands.insert(piece->getParentOfType<func::FuncOp>().getArgument(0));
    operands.insert_range(piece->getOperands());
    getUsedValuesDefinedAbove(piece->getRegions(), captured);
    SmallVector<Operation *> constants;
    for (Value value : captured) {
      Operation *definition = value.getDefiningOp();
      if (definition && definition->hasTrait<OpTrait::ConstantLike>())
        constants.push_back(definition);
      else
        operands.insert(value);
    }
    func::FuncOp made = makeKernel(piece, operands.getArrayRef(), constants);
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
      made->setAttr(kernel::kernelAttr, StringAttr::get(&getContext(), kind));
      if (Attribute share = piece->getAttr(kernel::shareAttr))
        made->setAttr(kernel::shareAttr, share);
      made.setName((kind + "_" + Twine(kernels.size() - 1)).str());
      symbols.insert(made);
    }
    OpBuilder builder(piece);
    func::CallOp::create(builder, piece->getLoc(), shared, operands.getArrayRef());
    piece->erase();
  }

  func::FuncOp makeKernel(Operation *piece, ArrayRef<Value> operands, ArrayRef<Operation *> constants) {
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
    builder.clone(*piece, mapping);
    func::ReturnOp::create(builder, builder.getUnknownLoc());
    return function;
  }
};

}  // namespace
