// SPDX-License-Identifier: Apache-2.0
// divide-work: puts every piece into tasks, and decides what every worker does of them.
//
//   kernel.norm %x into %y   ->   kernel.tasks over rows by rows { ^bb0(%first, %end):  kernel.norm %x into %y }
//
// Many rows: row pieces (norm, rope, gather, append, elementwise) are divided by rows, contractions adapt to the number
// of rows of the step. Attention is divided by heads, in blocks of rows: a causal mask leaves the last rows more work
// than the first, so that equal parts of the rows would not be equal parts of the work. Both fall into tasks, of which
// threads that are done with theirs take those of others (kernel.next_task).
//
// One row: dividing a norm by rows would leave it to one thread, at the price of a barrier before and one after. Every
// thread computes it instead, into memory of its own; append and attention are divided by heads alike (if a head's
// blocks of keys are tasks, its newest block is), so that a thread finds the keys that it stored itself. A decoder
// layer then has five barriers: before q/k/v, rope, the output projection, the feed-forward layer, and its second half.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "dialects/kernel/KernelDialect.h"

namespace talc {
#define GEN_PASS_DEF_DIVIDEWORK
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
using kernel::Share;

static bool isRowPiece(Operation *op) {
  auto piece = dyn_cast<kernel::ComputeOpInterface>(op);
  return piece && piece.getDivision() == Share::rows;
}

// The buffer that a piece writes, if it is a temporary of this function.
static memref::AllocOp temporaryOf(Operation *piece) {
  Value destination = kernel::getDestination(piece);
  return destination ? destination.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
}

// Memory of a thread's own must not be written by a piece that is divided otherwise, nor in another function.
static bool canBePrivate(memref::AllocOp temporary) {
  return llvm::all_of(temporary->getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::none_of(user->getUsers(), [](Operation *piece) {
        Value destination = kernel::getDestination(piece);
        return destination && isa_and_nonnull<ViewLikeOpInterface>(destination.getDefiningOp());
      });
    if (auto call = dyn_cast<func::CallOp>(user))
      return call.getOperands().back() != temporary.getResult();  // the last operand is the destination
    return temporaryOf(user) != temporary || isRowPiece(user);
  });
}

// Every thread computes a single row by itself, if it can.
static Share shareOf(kernel::ComputeOpInterface piece) {
  Share division = piece.getDivision();
  memref::AllocOp temporary = division == Share::rows ? temporaryOf(piece) : memref::AllocOp();
  bool oneRow = temporary && temporary.getType().getDimSize(0) == 1;
  return oneRow && canBePrivate(temporary) ? Share::all : division;
}

// Why a piece is divided so, in words.
static StringRef reasonFor(Share share) {
  switch (share) {
  case Share::all:
    return "every worker computes the only row, in memory of its own";
  case Share::rows:
    return "a worker has its rows";
  case Share::columns:
    return "rows are few: a worker has its columns of all of them";
  case Share::heads:
    return "a worker has its heads, or blocks of their queries";
  case Share::adaptive:
    return "a worker has its rows if the step has many, else its columns";
  }
  llvm_unreachable("every share has a reason");
}

// The running step, an argument of every function that has pieces.
static Value stepOf(Operation *op) {
  for (BlockArgument argument : op->getParentOfType<func::FuncOp>().getArguments())
    if (isa<kernel::StepType>(argument.getType()))
      return argument;
  return {};
}

namespace {

struct DivideWork : talc::impl::DivideWorkBase<DivideWork> {
  void runOnOperation() override {
    // All shares first: they follow from where pieces stand.
    SmallVector<std::pair<kernel::ComputeOpInterface, Share>> pieces;
    getOperation().walk([&](kernel::ComputeOpInterface piece) {
      if (!kernel::TasksOp::around(piece))
        pieces.push_back({piece, shareOf(piece)});
    });
    for (auto [piece, share] : pieces) {
      Value step = stepOf(piece);
      if (!step) {
        piece->emitOpError("stands in a function without the running step");
        return signalPassFailure();
      }
      constexpr talc::PassRemarks remarks("bufferize", "divide-work");
      remarks.did(piece, [name = piece->getName().stripDialect(), share = share] {
        return (name + " by " + kernel::stringifyShare(share) + ": " + reasonFor(share)).str();
      });
      kernel::TasksOp::wrap(piece, step, piece.getTaskSpace(share), share);
      if (share == Share::all)
        temporaryOf(piece)->setAttr(kernel::perThreadAttr, UnitAttr::get(&getContext()));
    }
  }
};

}  // namespace
