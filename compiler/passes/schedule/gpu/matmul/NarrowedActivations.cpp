// SPDX-License-Identifier: Apache-2.0
// Changes the types of marked arguments and buffers.
#include "compiler/passes/schedule/gpu/matmul/NarrowedActivations.h"

#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace talc {

using kernel::narrowedAttr;

static Type narrowType(Type type, Attribute mark) {
  return cast<MemRefType>(type).clone(cast<TypeAttr>(mark).getValue());
}

Type getNarrowedElementType(Value buffer) {
  Attribute mark;
  if (auto argument = dyn_cast<BlockArgument>(buffer)) {
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      mark = function.getArgAttr(argument.getArgNumber(), narrowedAttr);
  } else {
    mark = buffer.getDefiningOp()->getAttr(narrowedAttr);
  }
  return mark ? cast<TypeAttr>(mark).getValue() : cast<MemRefType>(buffer.getType()).getElementType();
}

static void applyNarrowing(func::FuncOp function) {
  SmallVector<Type> types(function.getFunctionType().getInputs());
  for (auto [index, type] : llvm::enumerate(types))
    if (Attribute mark = function.getArgAttr(index, narrowedAttr)) {
      type = narrowType(type, mark);
      if (!function.isExternal())
        function.getArgument(index).setType(type);
      function.removeArgAttr(index, narrowedAttr);
    }
  function.setFunctionType(FunctionType::get(function.getContext(), types, function.getFunctionType().getResults()));
}

void applyNarrowing(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    applyNarrowing(function);
  module.walk([](kernel::ArenaOp op) {
    if (Attribute mark = op->removeAttr(narrowedAttr))
      op->getResult(0).setType(narrowType(op.getType(), mark));
  });
}

}  // namespace talc
