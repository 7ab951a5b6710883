// SPDX-License-Identifier: Apache-2.0
// Types of functions and of buffers.
#include "compiler/passes/schedule/gpu/matmul/NarrowedActivations.h"

#include "dialects/kernel/KernelDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace talc {

using kernel::narrowedAttr;

static Type roundedType(Type type, Attribute note) {
  return cast<MemRefType>(type).clone(cast<TypeAttr>(note).getValue());
}

static void applyNarrowing(func::FuncOp function) {
  SmallVector<Type> types(function.getFunctionType().getInputs());
  for (auto [number, type] : llvm::enumerate(types))
    if (Attribute note = function.getArgAttr(number, narrowedAttr)) {
      type = roundedType(type, note);
      if (!function.isExternal())
        function.getArgument(number).setType(type);
      function.removeArgAttr(number, narrowedAttr);
    }
  function.setFunctionType(FunctionType::get(function.getContext(), types, function.getFunctionType().getResults()));
}

void applyNarrowing(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    applyNarrowing(function);
  module.walk([](kernel::ArenaOp op) {
    if (Attribute note = op->removeAttr(narrowedAttr))
      op->getResult(0).setType(roundedType(op.getType(), note));
  });
}

}  // namespace talc
