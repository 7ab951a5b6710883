// SPDX-License-Identifier: Apache-2.0
// Registers the kernel dialect; verifiers and memory effects of its operations.
#include "dialects/kernel/KernelDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/TypeSwitch.h"

#include "dialects/kernel/KernelDialect.cpp.inc"
#include "dialects/kernel/KernelEnums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/kernel/KernelTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/kernel/KernelAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/kernel/KernelOps.cpp.inc"

using namespace mlir;

namespace talc::kernel {

void KernelDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/kernel/KernelTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/kernel/KernelAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/kernel/KernelOps.cpp.inc"
      >();
}

LogicalResult ContractOp::verify() {
  auto x = cast<ShapedType>(getX().getType()), weight = cast<ShapedType>(getWeight().getType());
  auto init = cast<ShapedType>(getInit().getType());
  if (x.getRank() != 2 || weight.getRank() != 3 || init.getRank() != 2)
    return emitOpError("takes x of rank 2, a weight of rank 3 and an init of rank 2");
  int64_t lanes = weight.getDimSize(2);
  if (lanes <= 0 || (getGated() && lanes % 2 != 0) || weight.getDimSize(1) <= 0)
    return emitOpError() << "has panels of depth " << weight.getDimSize(1) << " and " << lanes << " lanes";
  if (x.getDimSize(1) != weight.getDimSize(1))
    return emitOpError() << "contracts " << x.getDimSize(1) << " features with a depth of " << weight.getDimSize(1);
  int64_t columns = weight.getDimSize(2) / (getGated() ? 2 : 1);
  if ((init.getDimSize(1) + columns - 1) / columns != weight.getDimSize(0))
    return emitOpError() << "has " << weight.getDimSize(0) << " panels of " << columns << " columns for a width of "
                         << init.getDimSize(1);
  size_t arguments = getInputs().size() + (getGated() ? 2 : 1);
  if (getEpilogue().getNumArguments() != arguments)
    return emitOpError() << "has an epilogue of " << getEpilogue().getNumArguments() << " arguments, expected "
                         << arguments;
  auto yield = cast<YieldOp>(getEpilogue().front().getTerminator());
  return yield.getValues().size() == 1 ? success() : emitOpError("has an epilogue that yields no single value");
}

// On buffers a piece reads its operands and writes its init; on tensors it has no effect.
template <typename Effects> static void addPieceEffects(DestinationStyleOpInterface op, Effects &effects) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (isa<MemRefType>(operand.get().getType())) {
      if (op.isDpsInit(&operand))
        effects.emplace_back(MemoryEffects::Write::get(), &operand, 0, true, SideEffects::DefaultResource::get());
      else
        effects.emplace_back(MemoryEffects::Read::get(), &operand, 0, true, SideEffects::DefaultResource::get());
    } else if (isa<StateType>(operand.get().getType())) {
      effects.emplace_back(MemoryEffects::Read::get(), SideEffects::DefaultResource::get());
    }
  }
}

using EffectList = SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>;
void ContractOp::getEffects(EffectList &effects) {
  addPieceEffects(*this, effects);
}
void AttentionOp::getEffects(EffectList &effects) {
  addPieceEffects(*this, effects);
}
void CombineOp::getEffects(EffectList &effects) {
  addPieceEffects(*this, effects);
}
void NormOp::getEffects(EffectList &effects) {
  addPieceEffects(*this, effects);
}
void RopeOp::getEffects(EffectList &effects) {
  addPieceEffects(*this, effects);
}
void GatherOp::getEffects(EffectList &effects) {
  addPieceEffects(*this, effects);
}

std::optional<int64_t> outputOf(Value buffer) {
  if (auto output = buffer.getDefiningOp<OutputOp>())
    return output.getOutput();
  Value rows;
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>(); alloc && !alloc.getDynamicSizes().empty())
    rows = alloc.getDynamicSizes()[0];
  if (auto arena = buffer.getDefiningOp<ArenaOp>())
    rows = arena.getRows();
  auto count = rows ? rows.getDefiningOp<OutputCountOp>() : OutputCountOp();
  return count ? std::optional<int64_t>(count.getOutput()) : std::nullopt;
}

}  // namespace talc::kernel
