// SPDX-License-Identifier: Apache-2.0
// expand-workgroups: pieces become what the threads of a workgroup do of a task.
//
//   tasks over rows { norm %x into %y }   ->   tasks over rows of (%n) { for its rows: thread t has columns t, t + n,
//   ... }
//
// Row pieces are those of processors, with threads for lanes (WorkgroupEmitter.h); the others have functions of their
// own.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/MemoryLoops.h"
#include "compiler/passes/schedule/gpu/WorkgroupPieces.h"
#include "compiler/passes/schedule/rows/RowPieces.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDWORKGROUPS
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

// A piece that every row has for itself.
static int64_t expandRows(OpBuilder &builder, Operation *op, int64_t subgroup) {
  const RowPiece *row = findPiece(rowPieces, op);
  Value init = kernel::destinationOf(op);
  if (!row || !init)
    return 0;
  int64_t threads = threadsFor(cast<ShapedType>(init.getType()).getShape().back());
  WorkgroupEmitter emitter(builder, op->getLoc(), threads, subgroup);
  row->expand(emitter, op);
  return emitter.lanes;
}

// The threads that do a piece, and how; none: there is no code for it.
static int64_t expand(Operation *piece, bool matrices, int64_t subgroup) {
  OpBuilder builder(piece);
  auto own = [&](auto op, int64_t threads, void (*make)(WorkgroupEmitter &, decltype(op))) {
    WorkgroupEmitter emitter(builder, piece->getLoc(), threads, subgroup);
    make(emitter, op);
    return threads;
  };
  return TypeSwitch<Operation *, int64_t>(piece)
      .Case([&](kernel::ContractOp op) {
        return matrices && takesMatrices(op) ? own(op, threadsOfMatrices(op), expandByMatrices)
                                             : own(op, threadsOfContract(op), expandContract);
      })
      .Case([&](kernel::ExpertsOp op) { return own(op, threadsOfExperts(op), expandExperts); })
      .Case([&](kernel::AttentionOp op) {
        return matrices && takesMatrices(op) ? own(op, threadsOfMatrices(op), expandByMatrices)
                                             : own(op, threadsOfAttention(op), expandAttention);
      })
      .Case([&](kernel::CombineOp op) { return own(op, threadsOfCombine(op), expandCombine); })
      .Case([&](kernel::AppendOp op) { return own(op, threadsOfAppend(op), expandAppend); })
      .Case([&](kernel::MemoryOp op) {
        int64_t threads = threadsFor(cast<StateType>(op.getState().getType()).getWidth());
        WorkgroupEmitter emitter(builder, op.getLoc(), threads, subgroup);
        expandMemory(emitter, op);
        return emitter.lanes;
      })
      .Case([&](linalg::GenericOp op) {
        return isSingleRow(op) ? own(op, threadsOfRow(op), expandRow) : expandRows(builder, op, subgroup);
      })
      .Default([&](Operation *op) { return expandRows(builder, op, subgroup); });
}

namespace {

struct ExpandWorkgroups : talc::impl::ExpandWorkgroupsBase<ExpandWorkgroups> {
  using Base::Base;

  void runOnOperation() override {
    if (!areValidStates(getOperation(), /*lanes=*/1))
      return signalPassFailure();
    SmallVector<Operation *> pieces;
    getOperation().walk([&](kernel::PieceOpInterface piece) { pieces.push_back(piece); });
    for (Operation *piece : pieces) {
      if (!tasksAround(piece))
        return signalPassFailure();
      int64_t threads = expand(piece, matrices, subgroup);
      if (threads == 0) {
        piece->emitOpError("has no code for graphics cards; --target=native makes code for processors, which run it");
        return signalPassFailure();
      }
      PassRemarks("schedule", "expand-workgroups").did(piece, [&] {
        return llvm::formatv("{0}: workgroups of {1} threads", piece->getName().stripDialect(), threads);
      });
      auto function = piece->getParentOfType<func::FuncOp>();
      function->setAttr(threadsAttr, IntegerAttr::get(IntegerType::get(&getContext(), 64), threads));
      piece->erase();
    }
  }
};

}  // namespace
