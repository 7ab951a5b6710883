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
#include "compiler/passes/schedule/attention/MemoryLoops.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/matmul/NarrowedActivations.h"
#include "compiler/passes/schedule/rows/RowWiseOps.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
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

namespace {

// Who did a piece.
struct Expansion {
  int64_t threads = 0;  // none: there is no code for it
  std::string tile;     // how it is cut, if there is a choice
};

class PieceExpansion {
public:
  PieceExpansion(Operation *piece, bool matrices, int64_t subgroup)
      : piece(piece), builder(piece), matrices(matrices), subgroup(subgroup) {}

  Expansion run() {
    return TypeSwitch<Operation *, Expansion>(piece)
        .Case([&](kernel::MatmulOp op) { return expandTiles(op, threadsOfContract, expandContract, tileOfContract); })
        .Case([&](kernel::AttentionOp op) {
          return expandTiles(op, threadsOfAttention, expandAttention, tileOfAttention);
        })
        .Case([&](kernel::ExpertsOp op) { return by(threadsOfExperts(op), [&](auto &e) { expandExperts(e, op); }); })
        .Case([&](kernel::CombineOp op) { return by(threadsOfCombine(op), [&](auto &e) { expandCombine(e, op); }); })
        .Case([&](kernel::KvAppendOp op) { return by(threadsOfAppend(op), [&](auto &e) { expandAppend(e, op); }); })
        .Case([&](kernel::QuantizeOp op) {
          return by(threadsOfQuantize(op), [&](auto &e) { quantizeByThreads(e, op); });
        })
        .Case([&](kernel::MemoryOp op) {
          int64_t threads = threadsFor(cast<KvCacheType>(op.getCache().getType()).getWidth());
          return by(threads, [&](auto &e) { expandMemory(e, op); });
        })
        .Case([&](linalg::GenericOp op) {
          return isSingleRow(op) ? by(threadsOfRow(op), [&](auto &e) { expandRow(e, op); }) : expandRows(op);
        })
        .Default([&](Operation *op) { return expandRows(op); });
  }

private:
  Expansion by(int64_t threads, llvm::function_ref<void(WorkgroupEmitter &)> make, std::string tile = "") {
    WorkgroupEmitter emitter(builder, piece->getLoc(), threads, subgroup);
    make(emitter);
    return {threads, std::move(tile)};
  }

  // By matrix instructions if nothing speaks against it.
  template <typename Op>
  Expansion expandTiles(Op op, int64_t (*threads)(Op), void (*expand)(WorkgroupEmitter &, Op),
                        std::string (*tile)(Op)) {
    std::string obstacle = matrices ? obstacleToMatrices(op) : "";
    if (matrices && obstacle.empty())
      return by(
          threadsOfMatrices(op), [&](auto &e) { expandByMatrices(e, op); }, tileByMatrices(op));
    std::string text = tile(op) + (obstacle.empty() ? "" : ", since " + obstacle);
    return by(
        threads(op), [&](auto &e) { expand(e, op); }, text);
  }

  Expansion expandRows(Operation *op) {
    const RowWiseOp *row = findRowWiseOp(rowWiseOps, op);
    Value init = kernel::getDestination(op);
    if (!row || !init)
      return {};
    int64_t threads = threadsFor(cast<ShapedType>(init.getType()).getShape().back());
    return by(threads, [&](auto &e) { row->expand(e, op); });
  }

  Operation *piece;
  OpBuilder builder;
  const bool matrices;
  const int64_t subgroup;
};

struct ExpandWorkgroups : talc::impl::ExpandWorkgroupsBase<ExpandWorkgroups> {
  using Base::Base;

  void runOnOperation() override {
    if (!areValidKvCaches(getOperation(), /*lanes=*/1))
      return signalPassFailure();
    applyNarrowing(getOperation());
    SmallVector<Operation *> pieces;
    getOperation().walk([&](kernel::ComputeOpInterface piece) { pieces.push_back(piece); });
    for (Operation *piece : pieces) {
      if (!getEnclosingTasks(piece))
        return signalPassFailure();
      Expansion made = PieceExpansion(piece, matrices, subgroup).run();
      if (made.threads == 0) {
        piece->emitOpError("has no code for GPUs; --target=native makes code for processors, which run it");
        return signalPassFailure();
      }
      PassRemarks("schedule", "expand-workgroups").did(piece, [&] {
        return llvm::formatv("{0}: workgroups of {1} threads{2}{3}", piece->getName().stripDialect(), made.threads,
                             made.tile.empty() ? "" : ": ", made.tile);
      });
      auto function = piece->getParentOfType<func::FuncOp>();
      function->setAttr(threadsAttr, IntegerAttr::get(IntegerType::get(&getContext(), 64), made.threads));
      if (!made.tile.empty())
        function->setAttr(tileAttr, StringAttr::get(&getContext(), made.tile));
      piece->erase();
    }
  }
};

}  // namespace
