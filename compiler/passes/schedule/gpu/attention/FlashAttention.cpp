// SPDX-License-Identifier: Apache-2.0
// kernel.attention by a workgroup: some queries of a key-value head, over blocks of 64 keys.
//
//   queries of the head, token by token     0 1 2 3 | 4 5 6 7 | 8 9      tiles of 4; with 2 heads for a key-value head
//   of tokens                               0 0 1 1 | 2 2 3 3 | 4 4      two tokens have one
//
//   for each block of keys, counted from position 0, that a query of the tile sees
//     its maxima, sums and values are brought together with the blocks before (OnlineSoftmax.h)
//
// Blocks begin at fixed positions, and what a block yields for a query is nothing but the query's and the block's, so
// that its bits depend on nothing beside it. The block of a single row's keys does the same operations, and leaves them
// for kernel.combine.
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"

using namespace mlir;

namespace talc {

namespace {

class Attention {
public:
  Attention(WorkgroupEmitter &e, kernel::AttentionOp op, std::unique_ptr<AttentionTile> tile)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), layout(cast<KvCacheType>(op.getCache().getType())),
        group(op.getHeads() / layout.heads), tile(std::move(tile)) {}

  void expand() { op.getBlock() ? expandKeys() : expandQueries(); }

private:
  static constexpr int64_t size = AttentionTile::keys;

  void expandQueries() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {e.rows(op.getQueries()), e.index(layout.heads), e.index(group)};
               },
               {tile->size(), 1});
    tile->seen.enter(kernel::SpanOp::create(e.b, e.loc, op.getStep(), tasks.part(0)));
    e.loop(e.index(0), tasks.part(4), tile->size(), [&](Value number) {
      Value count = e.min(e.sub(tasks.part(4), number), e.index(tile->size()));
      tile->enter(tasks.part(1), e.add(tasks.part(3), number), count);
      Emitter::Values all = tile->nothing();
      if (layout.sinkTokens > 0)
        all = addKept(all);
      tile->load(op.getQueries());
      Value begin = e.mul(e.div(tile->firstKey(), size), size);
      all = e.loop(begin, tile->endKey(), size, all,
                   [&](Value firstKey, ValueRange before) { return tile->addBlock(firstKey, before); });
      tile->finish(all);
    });
  }

  // The tokens that are kept have blocks of their own, before all others.
  Emitter::Values addKept(Emitter::Values all) {
    tile->seen.beginSinkRange();
    tile->load(op.getSinkQueries());
    for (int64_t first = 0; first < layout.sinkTokens; first += size)
      all = tile->addBlock(e.index(first), all);
    tile->seen.endSinkRange();
    return all;
  }

  // A block of the only row's keys, for every query of a head; see PartialAttentionLayout.
  void expandKeys() {
    e.b.setInsertionPoint(tasks);  // what is seen says how many tasks there are
    auto span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), e.index(0));
    tile->seen.enter(span);
    Value first = tile->seen.firstKey(span.getFirstPosition()), end = tile->seen.endKey(span.getFirstPosition());
    auto keys = static_cast<int64_t>(*op.getBlock());
    setExtents(e, op, [&]() -> Emitter::Values {
      return {e.div(first, keys), e.ceilDiv(end, keys), e.index(layout.heads)};
    });
    e.b.setInsertionPoint(op);
    Value block = tasks.part(0), left = block;
    if (layout.isRing())
      left = e.rem(block, cast<ShapedType>(op.getInit().getType()).getDimSize(0));
    e.loop(e.index(0), e.index(group), tile->size(), [&](Value number) {
      tile->enter(tasks.part(1), number, e.min(e.sub(e.index(group), number), e.index(tile->size())));
      tile->load(op.getQueries());
      auto [from, to] = keysOf(block, first, end);
      tile->leave(e.loop(from, to, size, tile->nothing(),
                         [&](Value firstKey, ValueRange before) { return tile->addBlock(firstKey, before); }),
                  left);
    });
  }

  // The keys of a task, [from, to). Where processors run the program, too, blocks are theirs; then the first task has
  // all keys and the others leave nothing, so that the order of sums is that of many rows.
  std::pair<Value, Value> keysOf(Value block, Value first, Value end) {
    auto keys = static_cast<int64_t>(*op.getBlock());
    if (keys == size)
      return {e.mul(block, size), e.mul(e.add(block, 1), size)};
    Value isFirst = e.less(block, e.add(e.div(first, keys), 1));
    return {e.select(isFirst, e.mul(e.div(first, size), size), end), end};
  }

  WorkgroupEmitter &e;
  kernel::AttentionOp op;
  kernel::TasksOp tasks;
  const kernel::KvLayout layout;
  const int64_t group;  // queries of a key-value head
  const std::unique_ptr<AttentionTile> tile;
};

}  // namespace

int64_t threadsOfAttention(kernel::AttentionOp op) {
  return threadsOfTile(op);
}

std::string tileOfAttention(kernel::AttentionOp op) {
  return std::to_string(queriesOfTile(op)) + " queries of a key-value head a task, blocks of " +
         std::to_string(workgroupKeys) + " keys in shared memory; by multiply-adds";
}

// `registers`: by itself ptxas would have room for so many threads that it spills.
static void expand(WorkgroupEmitter &e, kernel::AttentionOp op, std::unique_ptr<AttentionTile> tile,
                   int64_t registers) {
  auto function = op->getParentOfType<func::FuncOp>();
  function->setAttr(registersAttr, e.b.getI64IntegerAttr(registers));
  // The persistent kernel of a token may have no limit of registers, and attention is its largest task: with indices of
  // 64 bits some would be kept in memory.
  if (cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1)
    function->setAttr(narrowAttr, e.b.getUnitAttr());
  Attention(e, op, std::move(tile)).expand();
}

// A processor of a GPU has registers for 384 threads of one kind, for 256 of the other.
void expandAttention(WorkgroupEmitter &e, kernel::AttentionOp op) {
  expand(e, op, tileByThreads(e, op), 168);
}

void expandByMatrices(WorkgroupEmitter &e, kernel::AttentionOp op) {
  expand(e, op, tileByMatrices(e, op), 255);
}

}  // namespace talc
