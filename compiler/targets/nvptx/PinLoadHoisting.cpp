// SPDX-License-Identifier: Apache-2.0
// A mark is a call of empty inline assembly that may write memory reachable from its pointer arguments, of which it has
// none. InstCombine only asks whether an instruction may write at all; for alias analysis it touches nothing.
#include "compiler/targets/nvptx/PinLoadHoisting.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"

using namespace llvm;

namespace talc::nvptx {

static InlineAsm *mark(LLVMContext &context) {
  auto *type = FunctionType::get(Type::getVoidTy(context), false);
  return InlineAsm::get(type, "", "", /*hasSideEffects=*/true);
}

static bool loadsForNextIteration(const Loop &loop, const BasicBlock &latch) {
  return any_of(loop.getHeader()->phis(),
                [&](const PHINode &phi) { return isa<LoadInst>(phi.getIncomingValueForBlock(&latch)); });
}

void pinHoistedLoads(Function &function) {
  const DominatorTree dominators(function);
  const LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder())
    if (BasicBlock *latch = loop->getLoopLatch(); latch && loadsForNextIteration(*loop, *latch)) {
      CallInst *call = IRBuilder<>(latch->getTerminator()).CreateCall(mark(function.getContext()));
      call->setMemoryEffects(MemoryEffects::argMemOnly(ModRefInfo::Mod));
      call->setDoesNotThrow();
    }
}

void unpinHoistedLoads(Function &function) {
  for (Instruction &instruction : make_early_inc_range(instructions(function)))
    if (auto *call = dyn_cast<CallInst>(&instruction); call && call->getCalledOperand() == mark(function.getContext()))
      call->eraseFromParent();
}

}  // namespace talc::nvptx
