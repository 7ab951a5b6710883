// SPDX-License-Identifier: Apache-2.0
// kernel.attention by a workgroup: a tile of queries of a key-value head, over blocks of 64 keys with online softmax.
//
//   queries of the head, token by token     0 1 2 3 | 4 5 6 7 | 8 9      tiles of 4; with 2 query heads for a key-value
//   their tokens                            0 0 1 1 | 2 2 3 3 | 4 4      head, two tokens share a tile
//
//   for each block of keys, counted from position 0, that a query of the tile sees
//     merge its maxima, sums and outputs with those of the blocks before (OnlineSoftmax.h)
//
// Blocks begin at fixed positions, and the result of a block for a query depends on nothing but the query and the
// block, so that the bits of a query do not depend on the rest of the step. With split-KV a task does the same
// operations for its block of a single token's keys, and stores the state for kernel.combine.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"

using namespace mlir;

namespace talc {

namespace {

class FlashAttention {
public:
  FlashAttention(WorkgroupEmitter &e, kernel::AttentionOp op, std::unique_ptr<AttentionTile> tile)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), layout(cast<KvCacheType>(op.getCache().getType())),
        group(op.getHeads() / layout.heads), tile(std::move(tile)) {}

  void expand() { op.getBlock() ? expandSplitKv() : expandQueries(); }

private:
  static constexpr int64_t blockSize = AttentionTile::keys;

  void expandQueries() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {e.rows(op.getQueries()), e.index(layout.heads), e.index(group)};
               },
               {tile->maxQueries(), 1});
    tile->mask.enter(kernel::SpanOp::create(e.b, e.loc, op.getStep(), tasks.part(0)));
    e.loop(e.index(0), tasks.part(4), tile->maxQueries(), [&](Value first) {
      Value count = e.min(e.sub(tasks.part(4), first), e.index(tile->maxQueries()));
      tile->begin(tasks.part(1), e.add(tasks.part(3), first), count);
      Emitter::Values state = tile->initialState();
      if (layout.sinkTokens > 0)
        state = addSinkTokens(state);
      tile->loadQueries(op.getQueries());
      Value begin = e.mul(e.div(tile->firstKey(), blockSize), blockSize);
      state = e.loop(begin, tile->endKey(), blockSize, state,
                     [&](Value firstKey, ValueRange before) { return tile->addBlock(firstKey, before); });
      tile->storeOutput(state);
    });
  }

  // Sink tokens have blocks of their own, before all others.
  Emitter::Values addSinkTokens(Emitter::Values state) {
    tile->mask.beginSinkRange();
    tile->loadQueries(op.getSinkQueries());
    for (int64_t first = 0; first < layout.sinkTokens; first += blockSize)
      state = tile->addBlock(e.index(first), state);
    tile->mask.endSinkRange();
    return state;
  }

  // A task has a block of the only token's keys, for all queries of a head; see PartialAttentionLayout.
  void expandSplitKv() {
    e.b.setInsertionPoint(tasks);  // the mask range determines the number of tasks
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), e.index(0));
    tile->mask.enter(span);
    Value first = tile->mask.firstKey(span.getFirstPosition()), end = tile->mask.endKey(span.getFirstPosition());
    auto taskKeys = static_cast<int64_t>(*op.getBlock());
    setExtents(e, op, [&]() -> Emitter::Values {
      return {e.div(first, taskKeys), e.ceilDiv(end, taskKeys), e.index(layout.heads)};
    });
    e.b.setInsertionPoint(op);
    Value block = tasks.part(0), bufferRow = block;
    if (layout.isRing())
      bufferRow = e.rem(block, cast<ShapedType>(op.getInit().getType()).getDimSize(0));
    e.loop(e.index(0), e.index(group), tile->maxQueries(), [&](Value query) {
      tile->begin(tasks.part(1), query, e.min(e.sub(e.index(group), query), e.index(tile->maxQueries())));
      tile->loadQueries(op.getQueries());
      auto [from, to] = taskKeyRange(block, first, end);
      tile->storePartial(e.loop(from, to, blockSize, tile->initialState(),
                                [&](Value firstKey, ValueRange before) { return tile->addBlock(firstKey, before); }),
                         bufferRow);
    });
  }

  // The keys of a task, [from, to). If the program runs on CPUs, too, tasks have the CPUs' block size. Then the first
  // task does all keys and the others store the initial state, so that sums have the order of a step of many tokens.
  std::pair<Value, Value> taskKeyRange(Value block, Value first, Value end) {
    auto taskKeys = static_cast<int64_t>(*op.getBlock());
    if (taskKeys == blockSize)
      return {e.mul(block, blockSize), e.mul(e.add(block, 1), blockSize)};
    Value isFirst = e.less(block, e.add(e.div(first, taskKeys), 1));
    return {e.select(isFirst, e.mul(e.div(first, blockSize), blockSize), end), end};
  }

  WorkgroupEmitter &e;
  kernel::AttentionOp op;
  kernel::TasksOp tasks;
  const kernel::KvLayout layout;
  const int64_t group;  // queries of a key-value head
  const std::unique_ptr<AttentionTile> tile;
};

// Without a limit, ptxas chooses an occupancy at which it spills.
void expand(WorkgroupEmitter &e, kernel::AttentionOp op, std::unique_ptr<AttentionTile> tile, int64_t residentThreads) {
  e.limits.maxRegisters = e.gpu.registersForThreads(residentThreads);
  // The persistent kernel of a decode step may have no register limit, and attention is its largest task: with indices
  // of 64 bits it would spill.
  e.limits.narrowIndices = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
  FlashAttention(e, op, std::move(tile)).expand();
}

}  // namespace

int64_t fmaThreads(kernel::AttentionOp op, const GpuFacts &) {
  return fmaTileThreads(op);
}

std::string describeFmaTile(kernel::AttentionOp op, const GpuFacts &) {
  return std::to_string(fmaTileQueries(op)) + " queries of a key-value head a task, blocks of " +
         std::to_string(workgroupKeys) + " keys in shared memory; by FMA";
}

void expandByFma(WorkgroupEmitter &e, kernel::AttentionOp op) {
  expand(e, op, makeFmaTile(e, op), fmaResidentThreads(op));
}

void expandByMma(WorkgroupEmitter &e, kernel::AttentionOp op) {
  expand(e, op, makeMmaTile(e, op), mmaResidentThreads(op));
}

}  // namespace talc
