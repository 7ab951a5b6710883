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

namespace {

struct NamedTrait {
  StringLiteral name;
  bool IsaTraits::*field;
};

}  // namespace

static constexpr NamedTrait namedTraits[] = {{"fma_from_lane", &IsaTraits::fmaFromLane},
                                             {"memory_operands", &IsaTraits::memoryOperands},
                                             {"signed_dots", &IsaTraits::signedDots},
                                             {"dots_accumulate", &IsaTraits::dotsAccumulate},
                                             {"bf16_pairs", &IsaTraits::bf16Pairs},
                                             {"converts_bf16", &IsaTraits::convertsBf16},
                                             {"scales_by_powers", &IsaTraits::scalesByPowers},
                                             {"ternary_logic", &IsaTraits::ternaryLogic},
                                             {"tile_registers", &IsaTraits::tileRegisters}};

DictionaryAttr isaAttribute(MLIRContext *context, const IsaTraits &traits) {
  Builder b(context);
  NamedAttrList entries;
  entries.set("lanes", b.getI64IntegerAttr(traits.lanes));
  entries.set("registers", b.getI64IntegerAttr(traits.registers));
  for (const NamedTrait &trait : namedTraits)
    if (traits.*trait.field)
      entries.set(trait.name, b.getUnitAttr());
  return entries.getDictionary(context);
}

static IsaTraits readIsaTraits(DictionaryAttr entries) {
  IsaTraits traits;
  traits.lanes = entries.getAs<IntegerAttr>("lanes").getInt();
  traits.registers = entries.getAs<IntegerAttr>("registers").getInt();
  for (const NamedTrait &trait : namedTraits)
    traits.*trait.field = entries.contains(trait.name);
  return traits;
}

std::optional<IsaTraits> getIsaTraits(ModuleOp module, int64_t lanes) {
  if (auto entries = module->getAttrOfType<DictionaryAttr>(isaAttr))
    return readIsaTraits(entries);
  if (!isValidWidth(module, lanes))
    return std::nullopt;
  for (const IsaTraits &traits : {neonTraits(), avx2Traits()})
    if (traits.lanes == lanes)
      return traits;
  return avx512Traits();
}

}  // namespace talc
