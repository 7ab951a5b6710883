// SPDX-License-Identifier: Apache-2.0
// split-kv: the blocks of keys that a single row attends to become tasks of their own.
//
//   kernel.attention %q, %kv into %out   ->   kernel.attention %q, %kv block 256 into %parts
//                                             kernel.combine %parts block 256 into %out
//
// Every thread combines all heads, into memory of its own: the barrier that stood behind the attention then stands
// between the two, and none is added. A state that is one block is left alone.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/attention/AttentionPlan.h"

#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_SPLITKV
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;

constexpr talc::PassRemarks remarks("bufferize", "split-kv");

// A head's queries must fit into one task.
static bool canSplit(kernel::AttentionOp op, const talc::AttentionPlan &schedule) {
  int64_t group = op.getHeads() / cast<talc::KvCacheType>(op.getCache().getType()).getHeads();
  bool oneRow = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
  return oneRow && !op.getSinkQueries() && !op.getRowBias() && group <= schedule.rows &&
         schedule.kind == talc::AttentionKind::online;
}

static void split(kernel::AttentionOp op, int64_t block) {
  OpBuilder b(op);
  auto state = cast<talc::KvCacheType>(op.getCache().getType());
  kernel::PartialAttentionLayout parts(op.getHeads(), state.getWidth());
  int64_t tokens = llvm::alignTo(state.getCapacity(), state.getLayout().getTokenGroup());
  int64_t blocks =
      llvm::divideCeil(tokens, block) + state.isRing();  // what a window sees begins and ends within blocks
  auto type = MemRefType::get({blocks, parts.columns()}, b.getF32Type());
  Value out = op.getInit(), buffer = memref::AllocOp::create(b, op.getLoc(), type);
  op.getInitMutable().assign(buffer);
  op.setBlock(block);
  b.setInsertionPointAfter(op);
  kernel::CombineOp::create(b, op.getLoc(), TypeRange(), op.getStep(), buffer, op.getSinks(), out, op.getHeads(),
                            op.getWindow(), block, state.getRole() == talc::KvCacheRole::source, state.isRing());
}

namespace {

struct SplitKv : talc::impl::SplitKvBase<SplitKv> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<kernel::AttentionOp> ops;
    getOperation().walk([&](kernel::AttentionOp op) { ops.push_back(op); });
    for (kernel::AttentionOp op : ops) {
      talc::AttentionPlan schedule = talc::makeAttentionPlan(op, keys);
      if (canSplit(op, schedule)) {
        remarks.did(op, [&] { return llvm::formatv("blocks of {0} keys are tasks of their own", schedule.keys); });
        split(op, schedule.keys);
      } else if (cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1) {
        bool single = schedule.kind != talc::AttentionKind::online;
        remarks.declined(op, [&] {
          return std::string("the keys of a row stay together: ") +
                 (single                ? "they are one block"
                  : op.getSinkQueries() ? "some are kept beside the window"
                  : op.getRowBias()     ? "a bias of the row's own goes with them"
                                        : "more heads share them than fit into a task");
        });
      }
    }
  }
};

}  // namespace
