// SPDX-License-Identifier: Apache-2.0
// A kernel in optimized LLVM IR is copied, and what a launch would give it becomes arguments:
//
//   kernel(a, b)                         kernel_task()
//   place in the grid                    %column, %row, which are read again behind loops (RematerializeTaskCoords.h)
//   a, b                                 loaded from %arguments, 64 bits each, where they are first used; no task keeps
//                                        this address, which is loaded from the first bytes of shared memory each time
//   shared memory of the workgroup       at fixed places behind %shared
//   thread of the workgroup              thread of the workgroup modulo `threads`: those with one quotient are a team;
//                                        read again behind barriers, if the step has one row
//   barrier 0 of the workgroup           barrier 1 + team, of so many threads
//
// So teams of one workgroup do tasks side by side, and the instructions in between are those of the kernel. The text of
// the function is put into a kernel that has these registers (PersistentKernel.cpp): a call would keep more in others,
// which large tasks need all.
#include "compiler/targets/nvptx/TaskFunction.h"

#include "compiler/targets/nvptx/RematerializeTaskCoords.h"

#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ReplaceConstant.h"
#include "llvm/Transforms/Utils/Cloning.h"

using namespace llvm;

namespace talc::nvptx {

namespace {

constexpr unsigned globalSpace = 1, sharedSpace = 3;
constexpr uint64_t alignment = 16;

// A register of the kernel that the text becomes part of, of 32 or 64 bits.
Value *readRegister(IRBuilder<> &b, const char *name, unsigned bits) {
  Type *type = b.getIntNTy(bits);
  const std::string text = "mov.b" + std::to_string(bits) + " \t$0, %" + name + ";";
  auto *read = InlineAsm::get(FunctionType::get(type, false), text, bits == 64 ? "=l" : "=r", /*hasSideEffects=*/false);
  return b.CreateCall(read);
}

// The block in front of all uses of a value, and in no loop that the value is not in.
BasicBlock *blockOfUses(Instruction &value, const DominatorTree &dominators, const LoopInfo &loops) {
  BasicBlock *common = nullptr;
  for (Use &use : value.uses()) {
    auto *user = cast<Instruction>(use.getUser());
    auto *phi = dyn_cast<PHINode>(user);
    BasicBlock *block = phi ? phi->getIncomingBlock(use) : user->getParent();
    common = common ? dominators.findNearestCommonDominator(common, block) : block;
  }
  while (const Loop *loop = common ? loops.getLoopFor(common) : nullptr)
    common = dominators.getNode(loop->getHeader())->getIDom()->getBlock();
  return common;
}

// A kernel's own arguments take no registers. What an epilogue needs would be kept in some while the loops in front of
// it run, so that instructions move from the beginning to where they are used; in reverse order users go first.
void sinkLoads(Function &task, ArrayRef<Instruction *> loads) {
  const DominatorTree dominators(task);
  const LoopInfo loops(dominators);
  for (Instruction *load : reverse(loads)) {
    BasicBlock *block = blockOfUses(*load, dominators, loops);
    if (!block)
      continue;
    BasicBlock::iterator place = block->getFirstInsertionPt();
    while (!place->isTerminator() && !is_contained(load->users(), &*place))
      ++place;
    load->moveBefore(place);
  }
}

// Where the arguments of the piece lie (PersistentKernel.cpp); volatile, since what is loaded again takes no register
// meanwhile.
Value *loadArguments(IRBuilder<> &b) {
  auto *type = FunctionType::get(b.getInt64Ty(), false);
  auto *load = InlineAsm::get(type, "ld.volatile.shared.b64 \t$0, [talc_shared+8];", "=l", /*hasSideEffects=*/true);
  return b.CreateIntToPtr(b.CreateCall(load), b.getPtrTy(globalSpace));
}

// Loads tell the back end that buffers are global memory, as it knows of a kernel's own arguments.
Value *loadArgument(IRBuilder<> &b, const Argument &argument) {
  Value *arguments = loadArguments(b);
  Value *place = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), arguments, argument.getArgNo());
  if (!argument.getType()->isPointerTy())
    return b.CreateLoad(argument.getType(), place);
  Value *address = b.CreateLoad(b.getPtrTy(globalSpace), place);
  return b.CreateAddrSpaceCast(address, argument.getType());
}

Function *copyKernel(Function &kernel) {
  LLVMContext &context = kernel.getContext();
  auto *type = FunctionType::get(Type::getVoidTy(context), false);
  Function *task = Function::Create(type, GlobalValue::ExternalLinkage, kernel.getName() + "_task", kernel.getParent());
  BasicBlock *begin = BasicBlock::Create(context, "arguments", task);
  IRBuilder<> b(begin);
  ValueToValueMapTy copies;
  for (Argument &argument : kernel.args())
    copies[&argument] = loadArgument(b, argument);
  SmallVector<Instruction *> loads(make_pointer_range(*begin));
  SmallVector<ReturnInst *> returns;
  CloneFunctionInto(task, &kernel, copies, CloneFunctionChangeType::LocalChangesOnly, returns);
  auto *entry = cast<BasicBlock>(copies[&kernel.getEntryBlock()]);
  entry->splice(entry->begin(), begin);
  begin->eraseFromParent();
  sinkLoads(*task, loads);
  task->setCallingConv(CallingConv::C);
  task->removeFnAttr("nvvm.reqntid");
  return task;
}

// A register of the kernel has the team. Tasks of many rows have none left for it, and find it again by the thread,
// whose number ptxas reads from the GPU whenever it is needed.
Value *teamOf(IRBuilder<> &b, Value *thread, Value *count, bool manyRows) {
  return manyRows ? b.CreateUDiv(thread, count) : readRegister(b, "team", 32);
}

// Nothing: it asks for something else of its launch.
std::optional<TaskCoords> replaceIntrinsics(Function &task, unsigned threads, bool manyRows) {
  IRBuilder<> b(&*task.getEntryBlock().getFirstInsertionPt());
  Value *thread = b.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  Value *count = b.getInt32(threads), *own = b.CreateURem(thread, count);
  Value *barrier = b.CreateAdd(teamOf(b, thread, count, manyRows), b.getInt32(1));
  Value *column = readRegister(b, "column", 32), *row = readRegister(b, "row", 32);
  for (Instruction &instruction : make_early_inc_range(instructions(task))) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || call == thread)
      continue;
    switch (call->getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      call->replaceAllUsesWith(own);
      break;
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
      call->replaceAllUsesWith(column);
      break;
    case Intrinsic::nvvm_read_ptx_sreg_ctaid_y:
      call->replaceAllUsesWith(row);
      break;
    case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
      b.SetInsertPoint(call);
      b.CreateIntrinsic(Intrinsic::nvvm_barrier_cta_sync_aligned_count, {barrier, count});
      break;
    default:
      if (StringRef name = call->getCalledFunction()->getName();
          name.starts_with("llvm.nvvm.read.ptx.sreg.") || name.starts_with("llvm.nvvm.barrier"))
        return std::nullopt;
      continue;
    }
    call->eraseFromParent();
  }
  return TaskCoords{cast<Instruction>(column), cast<Instruction>(row), cast<Instruction>(own), !manyRows};
}

std::optional<uint64_t> placeShared(Function &task, const TaskCoords &taskPlace, unsigned threads) {
  Module &module = *task.getParent();
  uint64_t bytes = 0;
  IRBuilder<> entry(&*task.getEntryBlock().getFirstInsertionPt());
  // ptxas keeps no half of an address that is known to be 0.
  Value *place = entry.CreateAnd(readRegister(entry, "shared", 64), UINT32_MAX);
  auto *shared = cast<Instruction>(entry.CreateIntToPtr(place, entry.getPtrTy(sharedSpace)));
  for (GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != sharedSpace)
      continue;
    uint64_t size = module.getDataLayout().getTypeAllocSize(variable.getValueType());
    if (variable.isDeclaration() || size == 0)
      return std::nullopt;
    convertUsersOfConstantsToInstructions({&variable}, &task);
    IRBuilder<> b(shared->getNextNode());
    Value *own = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), shared, bytes);
    variable.replaceUsesWithIf(own, [&](Use &use) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      return user && user->getFunction() == &task;
    });
    bytes += alignTo(size, alignment);
  }
  return bytes + rematerializeTaskCoords(taskPlace, *shared, bytes, threads);
}

}  // namespace

std::optional<uint64_t> addTaskFunction(Function &kernel, unsigned threads, bool manyRows) {
  constexpr unsigned subgroup = 32;
  if (threads % subgroup != 0)
    return std::nullopt;
  Function *task = copyKernel(kernel);
  std::optional<uint64_t> bytes;
  if (std::optional<TaskCoords> place = replaceIntrinsics(*task, threads, manyRows))
    bytes = placeShared(*task, *place, threads);
  if (!bytes)
    task->eraseFromParent();
  return bytes;
}

}  // namespace talc::nvptx
