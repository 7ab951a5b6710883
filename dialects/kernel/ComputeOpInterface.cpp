// SPDX-License-Identifier: Apache-2.0
// What follows from the memory effects of a piece.
#include "dialects/kernel/KernelDialect.h"

#include "dialects/kernel/ComputeOpInterface.cpp.inc"

using namespace mlir;

namespace talc::kernel {

void addComputeOpEffects(Operation *piece, ComputeOpEffects &effects) {
  auto destination = dyn_cast<DestinationStyleOpInterface>(piece);
  for (OpOperand &operand : piece->getOpOperands()) {
    if (!isa<MemRefType, KvCacheType>(operand.get().getType()))
      continue;
    MemoryEffects::Effect *effect = MemoryEffects::Read::get();
    if (destination && destination.isDpsInit(&operand))
      effect = MemoryEffects::Write::get();
    effects.emplace_back(effect, &operand, 0, true, SideEffects::DefaultResource::get());
  }
}

bool writes(Operation *piece, OpOperand &operand) {
  auto interface = dyn_cast<MemoryEffectOpInterface>(piece);
  SmallVector<MemoryEffects::EffectInstance> effects;
  if (interface)
    interface.getEffects(effects);
  return llvm::any_of(effects, [&](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) && effect.getEffectValue<OpOperand *>() == &operand;
  });
}

Value getDestination(Operation *piece) {
  if (isa<ComputeOpInterface>(piece))
    for (OpOperand &operand : piece->getOpOperands())
      if (isa<MemRefType>(operand.get().getType()) && writes(piece, operand))
        return operand.get();
  return {};
}

}  // namespace talc::kernel
