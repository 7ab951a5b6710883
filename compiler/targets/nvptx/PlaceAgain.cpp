// SPDX-License-Identifier: Apache-2.0
// A launch has its place in the grid from registers of the card, which are read again for nothing. A task has it from
// registers of the kernel around it, and what only an epilogue needs of it would stay in some while the loop in front
// takes all:
//
//   first = column * 32                    shared[subgroup] = column
//   loop without `first`           ->      loop
//   store at first                         first = (volatile) shared[subgroup] * 32;  store at first
//
// All threads of a subgroup store and load the same, so that no barrier is needed.
#include "compiler/targets/nvptx/PlaceAgain.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"

using namespace llvm;

namespace talc::nvptx {

namespace {

constexpr uint64_t subgroup = 32, slotBytes = 8, alignment = 16;

class PlaceAgain {
public:
  PlaceAgain(const TaskPlace &place, Instruction &shared, uint64_t bytes)
      : place(place), shared(shared), bytes(bytes), task(*shared.getFunction()), dominators(task), loops(dominators) {}

  // Whether anything is read again.
  bool run() {
    for (Loop *loop : loops.getLoopsInPreorder())
      if (BasicBlock *exit = loop->isOutermost() ? loop->getUniqueExitBlock() : nullptr)
        readBehind(*loop, *exit);
    if (isRead)
      storeSlot();
    return isRead;
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
          use.set(copyOf(*value, loop, b));
    }
  }

  bool isRoot(const Value &value) const { return &value == place.column || &value == place.row; }

  static bool isKept(const Value &value, const Loop &loop) {
    return !isa<Instruction>(value) ||
           any_of(value.users(), [&](const User *user) { return loop.contains(cast<Instruction>(user)); });
  }

  // Cheap, and of nothing but the place, constants, and what the loop keeps anyway.
  bool isOfPlace(const Instruction &value, const Loop &loop, const BasicBlock &exit) const {
    if (isKept(value, loop) || !dominators.dominates(value.getParent(), loop.getHeader()) || loop.contains(&value) ||
        isCopy(value))
      return false;
    if (isRoot(value))
      return true;
    if (!isa<BinaryOperator>(value) && !isa<CastInst>(value))
      return false;
    bool any = false;
    for (const Use &use : value.operands()) {
      auto *operand = dyn_cast<Instruction>(use);
      bool isOf = operand && isOfPlace(*operand, loop, exit);
      if (!isOf && !isKept(*use, loop))
        return false;
      any |= isOf;
    }
    return any;
  }

  bool isCopy(const Instruction &value) const {
    return any_of(copies, [&](const auto &pair) { return pair.second == &value; });
  }

  Value *copyOf(Instruction &value, const Loop &loop, IRBuilder<> &b) {
    if (auto found = copies.find(&value); found != copies.end())
      return found->second;
    Instruction *copy = nullptr;
    if (isRoot(value)) {
      isRead = true;
      copy = b.CreateLoad(value.getType(), slotOf(value, b), /*isVolatile=*/true);
    } else {
      SmallVector<Value *> operands;
      for (Value *operand : value.operands())
        operands.push_back(isKept(*operand, loop) ? operand : copyOf(*cast<Instruction>(operand), loop, b));
      copy = value.clone();
      for (auto [number, operand] : enumerate(operands))
        copy->setOperand(static_cast<unsigned>(number), operand);
      b.Insert(copy);
    }
    copies[&value] = copy;
    return copy;
  }

  Value *slotOf(const Value &root, IRBuilder<> &b) {
    Value *at = b.CreateMul(b.CreateUDiv(place.thread, b.getInt32(subgroup)), b.getInt32(slotBytes));
    at = b.CreateAdd(at, b.getInt32(static_cast<uint32_t>(bytes) + (&root == place.row ? 4 : 0)));
    return b.CreateInBoundsGEP(b.getInt8Ty(), &shared, at);
  }

  void storeSlot() {
    IRBuilder<> b(task.getEntryBlock().getTerminator());
    for (Instruction *root : {place.column, place.row})
      b.CreateStore(root, slotOf(*root, b), /*isVolatile=*/true);
  }

  const TaskPlace place;
  Instruction &shared;
  const uint64_t bytes;
  Function &task;
  const DominatorTree dominators;
  const LoopInfo loops;
  DenseMap<const Value *, Instruction *> copies;  // behind the loop
  bool isRead = false;
};

}  // namespace

uint64_t readPlaceAgain(const TaskPlace &place, Instruction &shared, uint64_t bytes, unsigned threads) {
  return PlaceAgain(place, shared, bytes).run() ? alignTo(threads / subgroup * slotBytes, alignment) : 0;
}

}  // namespace talc::nvptx
