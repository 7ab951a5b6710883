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
  auto piece = dyn_cast<kernel::PieceOpInterface>(op);
  return piece && piece.getDivision() == Share::rows;
}

// The buffer that a piece writes, if it is a temporary of this function.
static memref::AllocOp temporaryOf(Operation *piece) {
  Value destination = kernel::destinationOf(piece);
  return destination ? destination.getDefiningOp<memref::AllocOp>() : memref::AllocOp();
}

// Memory of a thread's own must not be written by a piece that is divided otherwise, nor in another function.
static bool canBePrivate(memref::AllocOp temporary) {
  return llvm::all_of(temporary->getUsers(), [&](Operation *user) {
    if (isa<ViewLikeOpInterface>(user))
      return llvm::none_of(user->getUsers(), [](Operation *piece) {
        Value destination = kernel::destinationOf(piece);
        return destination && isa_and_nonnull<ViewLikeOpInterface>(destination.getDefiningOp());
      });
    if (auto call = dyn_cast<func::CallOp>(user))
      return call.getOperands().back() != temporary.getResult();  // the last operand is the destination
    return temporaryOf(user) != temporary || isRowPiece(user);
  });
}

// Every thread computes a single row by itself, if it can.
static Share shareOf(kernel::PieceOpInterface piece) {
  Share division = piece.getDivision();
  memref::AllocOp temporary = division == Share::rows ? temporaryOf(piece) : memref::AllocOp();
  bool oneRow = temporary && temporary.getType().getDimSize(0) == 1;
  return oneRow && canBePrivate(temporary) ? Share::all : division;
}

namespace {

struct DivideWork : talc::impl::DivideWorkBase<DivideWork> {
  void runOnOperation() override {
    getOperation().walk([](kernel::PieceOpInterface piece) { set(piece, shareOf(piece)); });
  }

  static void set(Operation *piece, Share share) {
    piece->setAttr(kernel::shareAttr, kernel::ShareAttr::get(piece->getContext(), share));
    if (share == Share::all)
      temporaryOf(piece)->setAttr(kernel::privateAttr, UnitAttr::get(piece->getContext()));
  }
};

}  // namespace
