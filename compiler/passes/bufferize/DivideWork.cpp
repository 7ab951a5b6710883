// SPDX-License-Identifier: Apache-2.0
// divide-work: decides what every thread does of every piece.
//
// Many rows: row pieces (norm, rope, gather, append, elementwise) are divided by rows, contractions adapt to the number
// of rows of the step. Attention is divided by heads, in blocks of rows: a causal mask leaves the last rows more work
// than the first, so that equal parts of the rows would not be equal parts of the work. Both fall into tasks, of which
// threads that are done with theirs take those of others (kernel.claim).
//
// One row: dividing a norm by rows would leave it to one thread, at the price of a barrier before and one after. Every
// thread computes it instead, into memory of its own; append and attention are divided by heads alike (if a head's
// blocks of keys are tasks, its newest block is), so that a thread finds the keys that it stored itself. A decoder
// layer then has five barriers: before q/k/v, rope, the output projection, the feed-forward layer, and its second half.
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
  return isa<kernel::NormOp, kernel::SoftmaxOp, kernel::RopeOp, kernel::GatherOp, kernel::CombineOp, linalg::GenericOp,
             memref::CopyOp>(op);
}

// The buffer that a piece writes, if it is a temporary of this function.
static memref::AllocOp temporaryOf(Operation *piece) {
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(piece))
    return destination.getDpsInits()[0].getDefiningOp<memref::AllocOp>();
  if (auto copy = dyn_cast<memref::CopyOp>(piece))
    return copy.getTarget().getDefiningOp<memref::AllocOp>();
  return {};
}

static bool hasOneRow(Value buffer) {
  return cast<MemRefType>(buffer.getType()).getDimSize(0) == 1;
}

static Share shareOfContract(kernel::ContractOp op) {
  return hasOneRow(op.getX()) || kernel::outputOf(op.getInit()) ? Share::columns : Share::adaptive;
}

// With one row a head's queries are a single task, which append can follow, if the group is small enough.
static Share shareOfAppend(kernel::AppendOp op) {
  bool oneTask = true;
  for (Operation *user : op.getState().getUsers())
    if (auto attention = dyn_cast<kernel::AttentionOp>(user)) {
      int64_t group = attention.getHeads() / cast<talc::StateType>(op.getState().getType()).getHeads();
      oneTask &= group <= kernel::attentionRows;
    }
  return hasOneRow(op.getKeys()) && oneTask ? Share::heads : Share::rows;
}

// Memory of a thread's own must not be written by a piece that is divided otherwise, nor in another function.
static Share shareOfRows(Operation *piece) {
  memref::AllocOp temporary = temporaryOf(piece);
  if (!temporary || !hasOneRow(temporary))
    return Share::rows;
  bool ownWriters = llvm::all_of(temporary->getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::none_of(user->getUsers(), [](Operation *piece) {
        auto destination = dyn_cast<DestinationStyleOpInterface>(piece);
        return destination && isa_and_nonnull<ViewLikeOpInterface>(destination.getDpsInits()[0].getDefiningOp());
      });
    if (auto call = dyn_cast<func::CallOp>(user))
      return call.getOperands().back() != temporary.getResult();  // the last operand is the destination
    return temporaryOf(user) != temporary || isRowPiece(user);
  });
  return ownWriters ? Share::all : Share::rows;
}

namespace {

struct DivideWork : talc::impl::DivideWorkBase<DivideWork> {
  void runOnOperation() override {
    getOperation().walk([](Operation *op) {
      if (auto contract = dyn_cast<kernel::ContractOp>(op))
        set(op, shareOfContract(contract));
      else if (isa<kernel::AttentionOp>(op))
        set(op, Share::heads);
      else if (auto append = dyn_cast<kernel::AppendOp>(op))
        set(op, shareOfAppend(append));
      else if (isRowPiece(op))
        set(op, shareOfRows(op));
    });
  }

  static void set(Operation *piece, Share share) {
    piece->setAttr(kernel::shareAttr, kernel::ShareAttr::get(piece->getContext(), share));
    if (share == Share::all)
      temporaryOf(piece)->setAttr(kernel::privateAttr, UnitAttr::get(piece->getContext()));
  }
};

}  // namespace
