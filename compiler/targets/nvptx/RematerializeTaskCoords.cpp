// SPDX-License-Identifier: Apache-2.0
// A launch has its place in the grid from registers of the GPU, which are read again for nothing. A task has it from
// registers of the kernel around it, and what only an epilogue needs of it would stay in some while the loop in front
// takes all:
//
//   first = column * 32                    shared[subgroup] = column
//   loop without `first`           ->      loop
//   store at first                         first = (volatile) shared[subgroup] * 32;  store at first
//
// All threads of a subgroup store and load the same, so that no barrier is needed.
//
// In a token's task nothing of the thread's number stays across a barrier, either: what the phases of attention compute
// from it are addresses of their own, and each phase would keep those of all others. The number is added to a 0 that is
// loaded like the place, since neither LLVM nor ptxas may know that it is the same as before.
#include "compiler/targets/nvptx/RematerializeTaskCoords.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace talc::nvptx {

namespace {

constexpr uint64_t subgroup = 32, slotBytes = 16, alignment = 16;  // a slot: column, row, 0

class RematerializeTaskCoords {
public:
  RematerializeTaskCoords(const TaskCoords &place, Instruction &shared, uint64_t bytes)
      : place(place), shared(shared), bytes(bytes), task(*shared.getFunction()), dominators(task), loops(dominators) {}

  // Whether anything is read again.
  bool run() {
    if (place.isOfToken)
      for (BasicBlock *block : post_order(&task))
        for (Instruction &instruction : reverse(*block))
          if (isBarrier(instruction))
            readBehind(instruction);
    for (Loop *loop : loops.getLoopsInPreorder())
      if (BasicBlock *exit = loop->isOutermost() ? loop->getUniqueExitBlock() : nullptr)
        readBehind(*loop, *exit);
    return isStored;
  }

private:
  void readBehind(const Loop &loop, BasicBlock &exit) {
    copies.clear();
    IRBuilder<> b(&*exit.getFirstInsertionPt());
    for (Instruction &user : make_early_inc_range(instructions(task))) {
      if (isa<PHINode>(user) || !dominators.dominates(&exit, user.getParent()))
        continue;
      for (Use &use : user.operands())
        if (auto *value = dyn_cast<Instruction>(use); value && isOfPlace(*value, loop, exit))
          use.set(copyOf(
              *value, [&](const Value &operand) { return isSinkRange(operand, loop); }, b));
    }
  }

  static bool isBarrier(const Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_count;
  }

  // Later barriers come first, so that what is used behind several is read again behind the nearest.
  void readBehind(Instruction &barrier) {
    copies.clear();
    SmallVector<Use *> uses;
    for (Instruction &user : instructions(task))
      for (Use &use : user.operands())
        if (auto *value = dyn_cast<Instruction>(use); value && !threads.contains(&user) && isOfTask(*value) &&
                                                      dominators.dominates(value, &barrier) &&
                                                      dominators.dominates(&barrier, use))
          uses.push_back(&use);
    IRBuilder<> b(barrier.getNextNode());
    for (Use *use : uses)
      use->set(copyOf(
          *cast<Instruction>(*use), [&](const Value &operand) { return !isOfTask(operand); }, b));
  }

  // The same for all tasks and threads of a team: constants, and addresses in shared memory.
  bool isFixed(const Value &value) const {
    if (!isa<Instruction>(value) || &value == &shared)
      return true;
    return isa<GetElementPtrInst>(value) &&
           all_of(cast<Instruction>(value).operand_values(), [&](const Value *operand) { return isFixed(*operand); });
  }

  // Of nothing but the place, the thread and what is fixed.
  bool isOfTask(const Value &value) const {
    if (isRoot(value))
      return true;
    if (!isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, MinMaxIntrinsic>(value))
      return false;
    bool any = false;
    for (const Value *operand : cast<Instruction>(value).operand_values()) {
      bool isOf = isOfTask(*operand);
      if (!isOf && !isFixed(*operand))
        return false;
      any |= isOf;
    }
    return any;
  }

  bool isRoot(const Value &value) const {
    return &value == place.column || &value == place.row || (place.isOfToken && &value == place.thread);
  }

  static bool isSinkRange(const Value &value, const Loop &loop) {
    return !isa<Instruction>(value) ||
           any_of(value.users(), [&](const User *user) { return loop.contains(cast<Instruction>(user)); });
  }

  // Cheap, and of nothing but the place, constants, and what the loop keeps anyway.
  bool isOfPlace(const Instruction &value, const Loop &loop, const BasicBlock &exit) const {
    if (isSinkRange(value, loop) || !dominators.dominates(value.getParent(), loop.getHeader()) ||
        loop.contains(&value) || isCopy(value))
      return false;
    if (isRoot(value))
      return true;
    if (!isa<BinaryOperator>(value) && !isa<CastInst>(value))
      return false;
    bool any = false;
    for (const Use &use : value.operands()) {
      auto *operand = dyn_cast<Instruction>(use);
      bool isOf = operand && isOfPlace(*operand, loop, exit);
      if (!isOf && !isSinkRange(*use, loop))
        return false;
      any |= isOf;
    }
    return any;
  }

  bool isCopy(const Instruction &value) const {
    return any_of(copies, [&](const auto &pair) { return pair.second == &value; });
  }

  Value *copyOf(Instruction &value, function_ref<bool(const Value &)> isSinkRange, IRBuilder<> &b) {
    if (auto found = copies.find(&value); found != copies.end())
      return found->second;
    Instruction *copy = nullptr;
    if (isRoot(value)) {
      copy = readAgain(value, b);
    } else {
      SmallVector<Value *> operands;
      for (Value *operand : value.operands())
        operands.push_back(isSinkRange(*operand) ? operand : copyOf(*cast<Instruction>(operand), isSinkRange, b));
      copy = value.clone();
      for (auto [number, operand] : enumerate(operands))
        copy->setOperand(static_cast<unsigned>(number), operand);
      b.Insert(copy);
    }
    copies[&value] = copy;
    return copy;
  }

  Instruction *readAgain(Instruction &root, IRBuilder<> &b) {
    if (!isStored)
      storeSlot();
    auto *load = b.CreateLoad(root.getType(), wordOf(root, b), /*isVolatile=*/true);
    if (&root != place.thread)
      return load;
    auto *thread = cast<Instruction>(b.CreateAdd(load, &root));
    threads.insert(thread);
    return thread;
  }

  // Of a token as soon as all is known, in front of any barrier, and the address stays. Of prompts at the end of the
  // first block, and the address is computed each time: they have no register for it.
  void storeSlot() {
    isStored = true;
    IRBuilder<> b(place.isOfToken ? behindRoots() : task.getEntryBlock().getTerminator());
    if (place.isOfToken)
      slot = slotOfSubgroup(b);
    for (Instruction *root : {place.column, place.row})
      b.CreateStore(root, wordOf(*root, b), /*isVolatile=*/true);
    if (place.isOfToken)
      b.CreateStore(b.getInt32(0), wordOf(*place.thread, b), /*isVolatile=*/true);
  }

  Instruction *behindRoots() {
    Instruction *last = &shared;
    for (Instruction *root : {place.column, place.row, place.thread})
      last = last->comesBefore(root) ? root : last;
    return last->getNextNode();
  }

  Value *slotOfSubgroup(IRBuilder<> &b) {
    Value *at = b.CreateMul(b.CreateUDiv(place.thread, b.getInt32(subgroup)), b.getInt32(slotBytes));
    return b.CreateInBoundsGEP(b.getInt8Ty(), &shared, b.CreateAdd(at, b.getInt32(static_cast<uint32_t>(bytes))));
  }

  Value *wordOf(const Instruction &root, IRBuilder<> &b) {
    const int64_t word = &root == place.column ? 0 : &root == place.row ? 4 : 8;
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slot ? slot : slotOfSubgroup(b), word);
  }

  const TaskCoords place;
  Instruction &shared;
  const uint64_t bytes;
  Function &task;
  const DominatorTree dominators;
  const LoopInfo loops;
  DenseMap<const Value *, Instruction *> copies;  // behind the loop, or the barrier
  SmallPtrSet<const Instruction *, 8> threads;    // the thread's number, read again
  bool isStored = false;
  Value *slot = nullptr;  // of a token's task, in shared memory
};

}  // namespace

uint64_t rematerializeTaskCoords(const TaskCoords &place, Instruction &shared, uint64_t bytes, unsigned threads) {
  return RematerializeTaskCoords(place, shared, bytes).run() ? alignTo(threads / subgroup * slotBytes, alignment) : 0;
}

}  // namespace talc::nvptx
