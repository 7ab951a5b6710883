// SPDX-License-Identifier: Apache-2.0
// split-kv: splits the attention of a single token into tasks over key blocks (flash decoding).
//
//   kernel.attention %q, %kv into %out   ->   kernel.attention %q, %kv block 256 into %partials
//                                             kernel.combine %partials block 256 into %out
//
// Every worker combines all heads redundantly, into memory of its own: the barrier after the attention moves between
// the two ops, and none is added. A KV cache that is a single block is left unchanged.
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

// The queries of a head must fit into one task.
static bool canSplit(kernel::AttentionOp op, const talc::AttentionPlan &plan) {
  int64_t group = op.getHeads() / cast<talc::KvCacheType>(op.getCache().getType()).getHeads();
  bool oneRow = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
  return oneRow && !op.getSinkQueries() && !op.getRowBias() && group <= plan.rows &&
         plan.kind == talc::AttentionKind::online;
}

static void split(kernel::AttentionOp op, int64_t block) {
  OpBuilder b(op);
  auto cache = cast<talc::KvCacheType>(op.getCache().getType());
  kernel::PartialAttentionLayout layout(op.getHeads(), cache.getWidth());
  int64_t tokens = llvm::alignTo(cache.getCapacity(), cache.getLayout().getTokenGroup());
  int64_t blocks = llvm::divideCeil(tokens, block) + cache.isRing();  // a window may begin and end within blocks
  auto type = MemRefType::get({blocks, layout.columns()}, b.getF32Type());
  Value out = op.getInit(), partials = memref::AllocOp::create(b, op.getLoc(), type);
  op.getInitMutable().assign(partials);
  op.setBlock(block);
  b.setInsertionPointAfter(op);
  kernel::CombineOp::create(b, op.getLoc(), TypeRange(), op.getStep(), partials, op.getSinks(), out, op.getHeads(),
                            op.getWindow(), block, cache.getRole() == talc::KvCacheRole::source, cache.isRing());
}

namespace {

struct SplitKv : talc::impl::SplitKvBase<SplitKv> {
  using Base::Base;
  void runOnOperation() override {
    SmallVector<kernel::AttentionOp> ops;
    getOperation().walk([&](kernel::AttentionOp op) { ops.push_back(op); });
    for (kernel::AttentionOp op : ops) {
      talc::AttentionPlan plan = talc::makeAttentionPlan(op, keys);
      if (canSplit(op, plan)) {
        remarks.did(op, [&] { return llvm::formatv("blocks of {0} keys are separate tasks", plan.keys); });
        split(op, plan.keys);
      } else if (cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1) {
        bool single = plan.kind != talc::AttentionKind::online;
        remarks.declined(op, [&] {
          return std::string("the keys of a token are not split: ") +
                 (single                ? "they are one block"
                  : op.getSinkQueries() ? "there are sink tokens beside the window"
                  : op.getRowBias()     ? "each query has its own bias"
                                        : "more query heads share them than fit into a task");
        });
      }
    }
  }
};

}  // namespace
