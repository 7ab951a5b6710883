// SPDX-License-Identifier: Apache-2.0
// Memory effects of compute ops.
#include "dialects/kernel/KernelDialect.h"

#include "dialects/kernel/ComputeOpInterface.cpp.inc"

using namespace mlir;

namespace talc::kernel {

void addComputeOpEffects(Operation *op, ComputeOpEffects &effects) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(op);
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType, KvCacheType>(operand.get().getType()))
      continue;
    MemoryEffects::Effect *effect = MemoryEffects::Read::get();
    if (destination && destination.isDpsInit(&operand))
      effect = MemoryEffects::Write::get();
    effects.emplace_back(effect, &operand, 0, true, SideEffects::DefaultResource::get());
  }
}

bool writes(Operation *op, OpOperand &operand) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (interface)
    interface.getEffects(effects);
  return llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getEffectValue<OpOperand *>() == &operand;
  });
}

Value getDestination(Operation *op) {
  if (isa<ComputeOpInterface>(op))
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()) && writes(op, operand))
        return operand.get();
  return {};
}

}  // namespace talc::kernel
