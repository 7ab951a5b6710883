// SPDX-License-Identifier: Apache-2.0
// Registers the kernel dialect; memory effects of its operations.
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
void SoftmaxOp::getEffects(EffectList &effects) {
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
