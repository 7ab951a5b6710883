// SPDX-License-Identifier: Apache-2.0
// divide-work: wraps every compute op in kernel.tasks, and decides which part of it a worker does.
//
//   kernel.norm %x into %y   ->   kernel.tasks over rows by rows { ^bb0(%first, %end):  kernel.norm %x into %y }
//
// Many tokens: row-wise ops (norm, rope, gather, kv_append, elementwise) are divided by rows; matmuls adapt to the
// number of tokens of the step. Attention is divided by heads, in blocks of queries: with a causal mask the last
// queries have more work than the first, so that equal numbers of queries would not be equal work. On CPUs, idle
// workers steal tasks of matmuls and attention from other workers (kernel.next_task).
//
// One token: dividing a norm by rows would leave it to one worker, at the price of a barrier before and after. Instead
// every worker computes it redundantly, into memory of its own. kv_append and attention are divided by heads alike
// (with split-KV, so is the newest block of a head), so that a worker finds the keys that it stored itself. A decoder
// layer then has five barriers: before q/k/v, rope, the output projection, the feed-forward layer, and its second half.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/Invariant.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_DIVIDEWORK
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
using kernel::Share;

static bool isDividedByRows(Operation *op) {
  auto computeOp = dyn_cast<kernel::ComputeOpInterface>(op);
  return computeOp && computeOp.getDivision() == Share::rows;
}

// The buffer that an op writes, if it is a temporary of this function.
static memref::AllocOp getTemporary(Operation *op) {
  Value destination = kernel::getDestination(op);
  return destination ? destination.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
}

// Memory per worker must not be written by an op that is divided otherwise, nor in another function.
static bool canBePerThread(memref::AllocOp temporary) {
  return llvm::all_of(temporary->getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::none_of(user->getUsers(), [](Operation *op) {
        Value destination = kernel::getDestination(op);
        return destination && isa_and_nonnull<ViewLikeOpInterface>(destination.getDefiningOp());
      });
    if (auto call = dyn_cast<func::CallOp>(user))
      return call.getOperands().back() != temporary.getResult();  // the last operand is the destination
    return getTemporary(user) != temporary || isDividedByRows(user);
  });
}

// Every worker computes a single row redundantly, if possible.
static Share chooseShare(kernel::ComputeOpInterface op) {
  Share division = op.getDivision();
  memref::AllocOp temporary = division == Share::rows ? getTemporary(op) : memref::AllocOp();
  bool oneRow = temporary && temporary.getType().getDimSize(0) == 1;
  return oneRow && canBePerThread(temporary) ? Share::all : division;
}

// Why an op is divided so, for remarks.
static StringRef explainShare(Share share) {
  switch (share) {
  case Share::all:
    return "every worker computes the only row, in memory of its own";
  case Share::rows:
    return "a worker computes its rows";
  case Share::columns:
    return "rows are few: a worker computes its columns of all of them";
  case Share::heads:
    return "a worker computes its heads, or blocks of their queries";
  case Share::adaptive:
    return "a worker computes its rows if the step has many tokens, else its columns";
  }
  talc::endByDefect("every share has a reason");
}

// The running step, an argument of every function with compute ops.
static Value getStep(Operation *op) {
  for (BlockArgument argument : op->getParentOfType<func::FuncOp>().getArguments())
    if (isa<kernel::StepType>(argument.getType()))
      return argument;
  return {};
}

namespace {

struct DivideWork : talc::impl::DivideWorkBase<DivideWork> {
  void runOnOperation() override {
    // The whole module has one schedule (set-dynamic-schedule); from here on every op says it.
    const bool isDynamic = static_cast<bool>(getOperation()->removeAttr(kernel::dynamicScheduleAttr));
    // All shares first: they depend on the users of temporaries, which wrapping moves.
    SmallVector<std::pair<kernel::ComputeOpInterface, Share>> ops;
    getOperation().walk([&](kernel::ComputeOpInterface op) {
      if (!kernel::TasksOp::around(op))
        ops.push_back({op, chooseShare(op)});
    });
    for (auto [op, share] : ops) {
      Value step = getStep(op);
      if (!step) {
        op->emitOpError("is in a function without the running step");
        return signalPassFailure();
      }
      constexpr talc::PassRemarks remarks("bufferize", "divide-work");
      remarks.did(op, [name = op->getName().stripDialect(), share = share] {
        return (name + " by " + kernel::stringifyShare(share) + ": " + explainShare(share)).str();
      });
      kernel::TasksOp::wrap(op, step, op.getTaskSpace(share), share).setDynamic(isDynamic);
      if (share == Share::all)
        getTemporary(op)->setAttr(kernel::perWorkerAttr, UnitAttr::get(&getContext()));
    }
  }
};

}  // namespace
