// SPDX-License-Identifier: Apache-2.0
// A kernel reads its coordinates in the grid from special registers, which is free. A task has them in registers of the
// kernel around it, and what an epilogue computes from them would stay in registers during the loop before it:
//
//   first = column * 32                    shared[warp] = column
//   loop without `first`           ->      loop
//   store at first                         first = (volatile) shared[warp] * 32;  store at first
//
// All threads of a warp store and load the same, so that no barrier is needed.
//
// In decode tasks nothing that depends on the thread's index stays in registers across a barrier, either: each phase of
// attention computes addresses from it, and would keep those of all other phases. The index is added to a 0 that is
// loaded like the coordinates, since neither LLVM nor ptxas may know that it is the same as before.
#include "compiler/targets/nvptx/TaskFunction.h"

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

constexpr uint64_t warp = 32, slotBytes = 16, alignment = 16;  // a slot: column, row, 0

class RematerializeTaskCoords {
public:
  RematerializeTaskCoords(const TaskCoords &coords, Instruction &shared, uint64_t bytes)
      : coords(coords), shared(shared), bytes(bytes), task(*shared.getFunction()), dominators(task), loops(dominators) {
  }

  // Returns whether anything is rematerialized.
  bool run() {
    if (coords.isDecode)
      for (BasicBlock *block : post_order(&task))
        for (Instruction &instruction : reverse(*block))
          if (isBarrier(instruction))
            rematerializeBehind(instruction);
    for (Loop *loop : loops.getLoopsInPreorder())
      if (BasicBlock *exit = loop->isOutermost() ? loop->getUniqueExitBlock() : nullptr)
        rematerializeBehind(*loop, *exit);
    return isStored;
  }

private:
  void rematerializeBehind(const Loop &loop, BasicBlock &exit) {
    copies.clear();
    IRBuilder<> b(&*exit.getFirstInsertionPt());
    for (Instruction &user : make_early_inc_range(instructions(task))) {
      if (isa<PHINode>(user) || !dominators.dominates(&exit, user.getParent()))
        continue;
      for (Use &use : user.operands())
        if (auto *value = dyn_cast<Instruction>(use); value && dependsOnCoords(*value, loop, exit))
          use.set(copy(
              *value, [&](const Value &operand) { return isAliveInLoop(operand, loop); }, b));
    }
  }

  static bool isBarrier(const Instruction &instruction) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    return call && call->getIntrinsicID() == Intrinsic::nvvm_barrier_cta_sync_aligned_count;
  }

  // Later barriers are visited first, so that a value that is used behind several is reloaded behind the nearest.
  void rematerializeBehind(Instruction &barrier) {
    copies.clear();
    SmallVector<Use *> uses;
    for (Instruction &user : instructions(task))
      for (Use &use : user.operands())
        if (auto *value = dyn_cast<Instruction>(use); value && !threads.contains(&user) && isTaskValue(*value) &&
                                                      dominators.dominates(value, &barrier) &&
                                                      dominators.dominates(&barrier, use))
          uses.push_back(&use);
    IRBuilder<> b(barrier.getNextNode());
    for (Use *use : uses)
      use->set(copy(
          *cast<Instruction>(*use), [&](const Value &operand) { return !isTaskValue(operand); }, b));
  }

  // Whether a value is the same for all tasks and threads of a team: constants, and addresses in shared memory.
  bool isFixed(const Value &value) const {
    if (!isa<Instruction>(value) || &value == &shared)
      return true;
    return isa<GetElementPtrInst>(value) &&
           all_of(cast<Instruction>(value).operand_values(), [&](const Value *operand) { return isFixed(*operand); });
  }

  // Whether a value depends on nothing but the coordinates, the thread and fixed values.
  bool isTaskValue(const Value &value) const {
    if (isRoot(value))
      return true;
    if (!isa<BinaryOperator, CastInst, GetElementPtrInst, CmpInst, SelectInst, MinMaxIntrinsic>(value))
      return false;
    bool dependsOnRoot = false;
    for (const Value *operand : cast<Instruction>(value).operand_values()) {
      bool depends = isTaskValue(*operand);
      if (!depends && !isFixed(*operand))
        return false;
      dependsOnRoot |= depends;
    }
    return dependsOnRoot;
  }

  bool isRoot(const Value &value) const {
    return &value == coords.column || &value == coords.row || (coords.isDecode && &value == coords.thread);
  }

  static bool isAliveInLoop(const Value &value, const Loop &loop) {
    return !isa<Instruction>(value) ||
           any_of(value.users(), [&](const User *user) { return loop.contains(cast<Instruction>(user)); });
  }

  // Whether a value is cheap and depends on nothing but the coordinates, constants, and what is alive in the loop
  // anyway.
  bool dependsOnCoords(const Instruction &value, const Loop &loop, const BasicBlock &exit) const {
    if (isAliveInLoop(value, loop) || !dominators.dominates(value.getParent(), loop.getHeader()) ||
        loop.contains(&value) || isCopy(value))
      return false;
    if (isRoot(value))
      return true;
    if (!isa<BinaryOperator>(value) && !isa<CastInst>(value))
      return false;
    bool dependsOnRoot = false;
    for (const Use &use : value.operands()) {
      auto *operand = dyn_cast<Instruction>(use);
      bool depends = operand && dependsOnCoords(*operand, loop, exit);
      if (!depends && !isAliveInLoop(*use, loop))
        return false;
      dependsOnRoot |= depends;
    }
    return dependsOnRoot;
  }

  bool isCopy(const Instruction &value) const {
    return any_of(copies, [&](const auto &pair) { return pair.second == &value; });
  }

  Value *copy(Instruction &value, function_ref<bool(const Value &)> isAliveInLoop, IRBuilder<> &b) {
    if (auto existing = copies.find(&value); existing != copies.end())
      return existing->second;
    Instruction *clone = nullptr;
    if (isRoot(value)) {
      clone = reload(value, b);
    } else {
      SmallVector<Value *> operands;
      for (Value *operand : value.operands())
        operands.push_back(isAliveInLoop(*operand) ? operand : copy(*cast<Instruction>(operand), isAliveInLoop, b));
      clone = value.clone();
      for (auto [number, operand] : enumerate(operands))
        clone->setOperand(static_cast<unsigned>(number), operand);
      b.Insert(clone);
    }
    copies[&value] = clone;
    return clone;
  }

  Instruction *reload(Instruction &root, IRBuilder<> &b) {
    if (!isStored)
      storeSlot();
    auto *load = b.CreateLoad(root.getType(), wordAddress(root, b), /*isVolatile=*/true);
    if (&root != coords.thread)
      return load;
    auto *thread = cast<Instruction>(b.CreateAdd(load, &root));
    threads.insert(thread);
    return thread;
  }

  // Decode tasks store as soon as all is known, before any barrier, and keep the address. Prefill tasks store at the
  // end of the first block and compute the address each time, since they have no register for it.
  void storeSlot() {
    isStored = true;
    IRBuilder<> b(coords.isDecode ? behindRoots() : task.getEntryBlock().getTerminator());
    if (coords.isDecode)
      slot = warpSlot(b);
    for (Instruction *root : {coords.column, coords.row})
      b.CreateStore(root, wordAddress(*root, b), /*isVolatile=*/true);
    if (coords.isDecode)
      b.CreateStore(b.getInt32(0), wordAddress(*coords.thread, b), /*isVolatile=*/true);
  }

  Instruction *behindRoots() {
    Instruction *last = &shared;
    for (Instruction *root : {coords.column, coords.row, coords.thread})
      last = last->comesBefore(root) ? root : last;
    return last->getNextNode();
  }

  Value *warpSlot(IRBuilder<> &b) {
    Value *at = b.CreateMul(b.CreateUDiv(coords.thread, b.getInt32(warp)), b.getInt32(slotBytes));
    return b.CreateInBoundsGEP(b.getInt8Ty(), &shared, b.CreateAdd(at, b.getInt32(static_cast<uint32_t>(bytes))));
  }

  Value *wordAddress(const Instruction &root, IRBuilder<> &b) {
    const int64_t word = &root == coords.column ? 0 : &root == coords.row ? 4 : 8;
    return b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), slot ? slot : warpSlot(b), word);
  }

  const TaskCoords coords;
  Instruction &shared;
  const uint64_t bytes;
  Function &task;
  const DominatorTree dominators;
  const LoopInfo loops;
  DenseMap<const Value *, Instruction *> copies;  // behind the loop or the barrier
  SmallPtrSet<const Instruction *, 8> threads;    // reloaded indices of the thread
  bool isStored = false;
  Value *slot = nullptr;  // of a decode task, in shared memory
};

}  // namespace

uint64_t rematerializeTaskCoords(const TaskCoords &coords, Instruction &shared, uint64_t bytes, unsigned threads) {
  return RematerializeTaskCoords(coords, shared, bytes).run() ? alignTo(threads / warp * slotBytes, alignment) : 0;
}

}  // namespace talc::nvptx
