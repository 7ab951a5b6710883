// SPDX-License-Identifier: Apache-2.0
// Traits of instruction sets, and those that a module says.
#include "compiler/passes/schedule/cpu/Isa.h"

#include "compiler/passes/schedule/Emitter.h"

using namespace mlir;

namespace talc {

IsaTraits neonTraits() {
  IsaTraits traits;
  traits.lanes = 4;
  traits.registers = 32;
  traits.fmaFromLane = traits.signedDots = traits.dotsAccumulate = traits.convertsBf16 = true;
  return traits;
}

IsaTraits avx2Traits() {
  IsaTraits traits;
  traits.lanes = 8;
  traits.registers = 16;
  traits.memoryOperands = traits.signedDots = traits.bf16Pairs = true;
  return traits;
}

IsaTraits avx512Traits() {
  IsaTraits traits;
  traits.lanes = 16;
  traits.registers = 32;
  traits.memoryOperands = traits.dotsAccumulate = traits.bf16Pairs = true;
  traits.scalesByPowers = traits.ternaryLogic = traits.tileRegisters = true;
  return traits;
}

std::optional<IsaTraits> getIsaTraits(ModuleOp module, int64_t lanes) {
  if (auto isa = module->getAttrOfType<kernel::IsaAttr>(isaAttr))
    return IsaTraits{isa.getLanes(),          isa.getRegisters(),      isa.getFmaFromLane(),  isa.getMemoryOperands(),
                     isa.getSignedDots(),     isa.getDotsAccumulate(), isa.getBf16Pairs(),    isa.getConvertsBf16(),
                     isa.getScalesByPowers(), isa.getTernaryLogic(),   isa.getTileRegisters()};
  if (!isValidWidth(module, lanes))
    return std::nullopt;
  for (const IsaTraits &traits : {neonTraits(), avx2Traits()})
    if (traits.lanes == lanes)
      return traits;
  return avx512Traits();
}

}  // namespace talc
