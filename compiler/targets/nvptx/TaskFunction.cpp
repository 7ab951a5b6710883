// SPDX-License-Identifier: Apache-2.0
// Copies a kernel in optimized LLVM IR, and replaces what a launch would give it:
//
//   kernel(a, b)                         kernel_task()
//   coordinates in the grid              %column, %row, which are reloaded behind loops (RematerializeTaskCoords.cpp)
//   a, b                                 loaded from %arguments, 64 bits each, at their first use; no task keeps that
//                                        address, which is loaded from the first bytes of shared memory each time
//   shared memory of the workgroup       at fixed offsets from %shared
//   thread of the workgroup              thread of the workgroup modulo `threads`: threads with the same quotient are a
//                                        team; reloaded behind barriers in decode
//   barrier 0 of the workgroup           barrier 1 + team, of so many threads
//
// So the teams of a workgroup do tasks side by side, with the instructions of the kernel in between. The body is
// inlined into a kernel that has these registers (PersistentKernel.cpp): a call would keep some registers alive that
// large tasks need.
#include "compiler/targets/nvptx/TaskFunction.h"

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

// Reads a register of 32 or 64 bits of the persistent kernel that the body is inlined into.
Value *readRegister(IRBuilder<> &b, const char *name, unsigned bits) {
  Type *type = b.getIntNTy(bits);
  const std::string text = "mov.b" + std::to_string(bits) + " \t$0, %" + name + ";";
  auto *read = InlineAsm::get(FunctionType::get(type, false), text, bits == 64 ? "=l" : "=r", /*hasSideEffects=*/false);
  return b.CreateCall(read);
}

// The last block that dominates all uses of a value and is in no loop that the value is not in.
BasicBlock *findBlockForUses(Instruction &value, const DominatorTree &dominators, const LoopInfo &loops) {
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

// The arguments of a kernel take no registers, but loaded arguments do: what an epilogue needs would stay alive during
// the loops before it. So loads move to their first use; in reverse order, users move first.
void sinkLoads(Function &task, ArrayRef<Instruction *> loads) {
  const DominatorTree dominators(task);
  const LoopInfo loops(dominators);
  for (Instruction *load : reverse(loads)) {
    BasicBlock *block = findBlockForUses(*load, dominators, loops);
    if (!block)
      continue;
    BasicBlock::iterator place = block->getFirstInsertionPt();
    while (!place->isTerminator() && !is_contained(load->users(), &*place))
      ++place;
    load->moveBefore(place);
  }
}

// The address of the arguments (PersistentKernel.cpp). The load is volatile, so that each use loads it again and no
// register keeps it.
Value *loadArguments(IRBuilder<> &b) {
  auto *type = FunctionType::get(b.getInt64Ty(), false);
  auto *load = InlineAsm::get(type, "ld.volatile.shared.b64 \t$0, [talc_shared+8];", "=l", /*hasSideEffects=*/true);
  return b.CreateIntToPtr(b.CreateCall(load), b.getPtrTy(globalSpace));
}

// Casts from the global address space tell the backend what it knows about arguments of kernels.
Value *loadArgument(IRBuilder<> &b, const Argument &argument) {
  Value *arguments = loadArguments(b);
  Value *address = b.CreateConstInBoundsGEP1_64(b.getInt64Ty(), arguments, argument.getArgNo());
  if (!argument.getType()->isPointerTy())
    return b.CreateLoad(argument.getType(), address);
  Value *buffer = b.CreateLoad(b.getPtrTy(globalSpace), address);
  return b.CreateAddrSpaceCast(buffer, argument.getType());
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

// The team is in a register of the kernel. Prefill tasks have no register left for it, and compute it from the thread's
// index, which is a special register.
Value *readTeam(IRBuilder<> &b, Value *thread, Value *count, bool manyRows) {
  return manyRows ? b.CreateUDiv(thread, count) : readRegister(b, "team", 32);
}

// Returns nothing if the kernel reads anything else of its launch.
std::optional<TaskCoords> replaceIntrinsics(Function &task, unsigned threads, bool manyRows) {
  IRBuilder<> b(&*task.getEntryBlock().getFirstInsertionPt());
  Value *thread = b.CreateIntrinsic(Intrinsic::nvvm_read_ptx_sreg_tid_x, {});
  Value *count = b.getInt32(threads), *threadInTeam = b.CreateURem(thread, count);
  Value *barrier = b.CreateAdd(readTeam(b, thread, count, manyRows), b.getInt32(1));
  Value *column = readRegister(b, "column", 32), *row = readRegister(b, "row", 32);
  for (Instruction &instruction : make_early_inc_range(instructions(task))) {
    auto *call = dyn_cast<IntrinsicInst>(&instruction);
    if (!call || call == thread)
      continue;
    switch (call->getIntrinsicID()) {
    case Intrinsic::nvvm_read_ptx_sreg_tid_x:
      call->replaceAllUsesWith(threadInTeam);
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
  return TaskCoords{cast<Instruction>(column), cast<Instruction>(row), cast<Instruction>(threadInTeam), !manyRows};
}

std::optional<uint64_t> assignSharedMemory(Function &task, const TaskCoords &coords, unsigned threads) {
  Module &module = *task.getParent();
  uint64_t bytes = 0;
  IRBuilder<> entry(&*task.getEntryBlock().getFirstInsertionPt());
  // ptxas keeps no register for the upper half of an address, which is known to be 0.
  Value *address = entry.CreateAnd(readRegister(entry, "shared", 64), UINT32_MAX);
  auto *shared = cast<Instruction>(entry.CreateIntToPtr(address, entry.getPtrTy(sharedSpace)));
  for (GlobalVariable &variable : module.globals()) {
    if (variable.getAddressSpace() != sharedSpace)
      continue;
    uint64_t size = module.getDataLayout().getTypeAllocSize(variable.getValueType());
    if (variable.isDeclaration() || size == 0)
      return std::nullopt;
    convertUsersOfConstantsToInstructions({&variable}, &task);
    IRBuilder<> b(shared->getNextNode());
    Value *replacement = b.CreateConstInBoundsGEP1_64(b.getInt8Ty(), shared, bytes);
    variable.replaceUsesWithIf(replacement, [&](Use &use) {
      auto *user = dyn_cast<Instruction>(use.getUser());
      return user && user->getFunction() == &task;
    });
    bytes += alignTo(size, alignment);
  }
  return bytes + rematerializeTaskCoords(coords, *shared, bytes, threads);
}

}  // namespace

std::optional<uint64_t> addTaskFunction(Function &kernel, unsigned threads, bool manyRows) {
  constexpr unsigned warp = 32;
  if (threads % warp != 0)
    return std::nullopt;
  Function *task = copyKernel(kernel);
  std::optional<uint64_t> bytes;
  if (std::optional<TaskCoords> coords = replaceIntrinsics(*task, threads, manyRows))
    bytes = assignSharedMemory(*task, *coords, threads);
  if (!bytes)
    task->eraseFromParent();
  return bytes;
}

}  // namespace talc::nvptx
