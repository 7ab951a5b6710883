// SPDX-License-Identifier: Apache-2.0
// expand-contract: loops and register tiles for kernel.contract.
//
//   for each block of rows
//     for each block of panels                       (several threads claim blocks of rows and groups of panels)
//       for each block of k                          (the block's rows and sums stay in the second cache)
//         for each group of panels                   (its part stays in cache while the rows pass)
//           for each tile of at most 6 rows          (the rows of a block are dealt evenly to as few as possible)
//             accumulators; for k: the group's vectors, a broadcast per row, a multiply-add for each pair
//             on the way the tiles fetch what comes next of the weight into cache
//             store the sums
//           after the last k, row by row: epilogue, store
//
// A group of panels fills the accumulators (tileColumns); a panel that is too wide for them, packed for wider vectors,
// is a group of several tiles. With few rows a group has more columns, so that the multiply-adds still overlap. Sums
// are stored, so that the code of an epilogue exists once and not for every shape of a tile, and so that k can be
// divided: a chain goes on where it stopped. A divided k leaves them in the result itself, which has room for many
// groups; where that is not possible (gated, or a last panel that is not full) they lie on the stack, and a block of
// panels is one group.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/Claims.h"
#include "compiler/passes/schedule/cpu/ContractPlan.h"
#include "compiler/passes/schedule/cpu/EvenParts.h"

namespace talc {
#define GEN_PASS_DEF_EXPANDCONTRACT
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

class Contract {
public:
  Contract(OpBuilder &builder, kernel::ContractOp op, int64_t lanes, int64_t cacheBytes)
      : op(op), plan(op, lanes, cacheBytes), e(builder, op.getLoc(), lanes) {}

  void expand() {
    auto type = cast<MemRefType>(op.getX().getType());
    bool few = !type.isDynamicDim(0) && type.getDimSize(0) <= tileRows;
    // With up to `most` rows a tile takes more panels than with six.
    int64_t most = few ? type.getDimSize(0) : 0;
    while (!few && plan.tileLanes(most + 1) > plan.tileLanes(tileRows))
      ++most;
    // Before any branch, so that they belong to the function's frame.
    Value sumsOfFew = most > 0 ? e.stackBuffer({most, plan.groupPanels(1) * plan.panelLanes}) : Value();
    bool wait = !few && !plan.sumsInResult;
    Value sumsOfMany = wait ? e.stackBuffer({plan.rowBlock, plan.groupPanels(tileRows) * plan.panelLanes}) : Value();
    std::tie(firstPanel, endPanel) = e.share(op.getStep(), e.index(plan.panels), kernel::Share::columns);
    sums = sumsOfFew;
    if (few)
      return fewRows(most);
    Value count = e.rows(op.getX());
    e.when(e.less(count, e.index(most + 1)), [&] { e.dispatch(count, 1, most, [&](int64_t rows) { fewRows(rows); }); });
    sums = sumsOfMany;
    e.when(e.less(e.index(most), count), [&] { manyRows(count); });
  }

private:
  // What a tile fetches while it takes a piece, in the iteration that begins at k.
  using TileFetch = std::function<void(Value piece, Value k)>;

  // Runs body(panels at a time, first panel) over [first, end). A rest is halved again and again: a tile of one
  // panel has too few chains to keep the multiply-adds busy.
  void eachGroup(int64_t rows, Value first, Value end, llvm::function_ref<void(int64_t, Value)> body) {
    for (int64_t step = plan.groupPanels(rows); step > 0; step /= 2) {
      Value whole = e.add(first, e.mul(e.div(e.sub(end, first), step), step));
      e.loop(first, whole, step, [&](Value panel) { body(step, panel); });
      first = whole;
    }
  }

  void fewRows(int64_t rows) {
    eachGroup(rows, firstPanel, endPanel, [&](int64_t count, Value panel) {
      TileFetch fetch = rows == 1 && plan.isLarge ? fetchStreams(count, panel) : nullptr;
      sumPanel = panel;
      Tile{rows, count, e.index(0), e.index(0), panel, e.index(0), plan.depth, fetch}.emit(*this);
      finish(e.index(rows), count, e.index(0), panel);
    });
  }

  // One row reads a weight once, and a large one from memory, in as many streams as there are panels: fetches what
  // comes 4 KiB later, counting all, since the processor's own prefetching begins anew at every page.
  TileFetch fetchStreams(int64_t count, Value panel) {
    constexpr int64_t linesAhead = 64;
    Value weight = op.getWeight();
    int64_t rowsAhead = std::max<int64_t>(1, linesAhead / count * plan.lineElements / plan.panelLanes);
    return [this, weight, count, panel, rowsAhead](Value, Value k) {
      for (int64_t p = 0; p < count; ++p)
        for (int64_t lane = 0; lane < plan.unroll() * plan.panelLanes; lane += plan.lineElements)
          e.prefetch(weight, {e.add(panel, p), e.add(k, rowsAhead), e.index(lane)});
    };
  }

  // A task is a block of rows and a group of panels or, if this thread does not claim tasks, all of its
  // panels. Those of a block follow each other, so that its rows stay in the second cache.
  void manyRows(Value count) {
    Value dealt = isDealt(count), zero = e.index(0), one = e.index(1);
    int64_t group = plan.groupPanels(tileRows), groups = llvm::divideCeil(plan.panels, group);
    Blocks blocks = blocksOf(count, groups, dealt);
    Value perBlock = e.select(dealt, e.index(groups), one), all = e.mul(blocks.shares, blocks.ofShare);
    Value tasks = e.mul(all, perBlock);
    Claims claims(e, op.getStep(), tasks, dealt);
    Value ownFirst = firstPanel, ownEnd = endPanel;
    auto firstOf = [&](Value task) { return e.select(dealt, e.mul(e.rem(task, perBlock), group), ownFirst); };
    loopWithin(e, claims.next(zero), zero, tasks, [&](Value task) {
      Value block = e.div(task, perBlock), following = e.add(task, 1);
      firstPanel = firstOf(task);
      endPanel = e.select(dealt, e.min(e.index(plan.panels), e.add(firstPanel, group)), ownEnd);
      followingPanel = firstOf(following);
      Value first = blocks.firstRow(e, count, block);
      blockOfRows(first, e.sub(blocks.firstRow(e, count, e.add(block, 1)), first));
      return claims.next(following);
    });
  }

  // Few rows are not: each thread has its panels, and reads their weights in order.
  Value isDealt(Value count) {
    constexpr int64_t fewest = 24;
    if (shareOf(op) == kernel::Share::rows)
      return truth(e, false);
    Value threads = kernel::ThreadsOp::create(e.b, e.loc, op.getStep());
    return both(e.less(e.index(1), threads), e.less(e.index(fewest - 1), count));
  }

  Value both(Value x, Value y) { return e.select(x, y, truth(e, false)); }

  // The rows fall into shares, as kernel.share divides them, and these into blocks.
  struct Blocks {
    Value shares, ofShare;

    Value firstRow(Emitter &e, Value count, Value block) const {
      Value share = e.div(block, ofShare), begin = e.div(e.mul(count, share), shares);
      Value end = e.div(e.mul(count, e.add(share, 1)), shares);
      return e.add(begin, e.div(e.mul(e.sub(end, begin), e.rem(block, ofShare)), ofShare));
    }
  };

  // A step divided by rows has a share of them for every thread. Else a thread's share of the tasks is groups of
  // panels, and small blocks make several tasks of it, of which others can take some.
  Blocks blocksOf(Value count, int64_t groups, Value dealt) {
    constexpr int64_t tasksOfShare = 8, leastRows = 32;
    Value one = e.index(1), threads = kernel::ThreadsOp::create(e.b, e.loc, op.getStep()), byRows = truth(e, false);
    if (shareOf(op) == kernel::Share::adaptive)
      byRows = both(dealt, kernel::ByRowsOp::create(e.b, e.loc, op.getStep()));
    Value shares = e.select(byRows, threads, one), sharing = e.select(byRows, one, threads);
    Value rows = e.ceilDiv(count, shares), blocks = e.ceilDiv(rows, plan.rowBlock);
    Value wanted = e.min(e.ceilDiv(e.mul(sharing, tasksOfShare), groups), e.div(rows, leastRows));
    return {shares, e.select(dealt, e.max(blocks, wanted), blocks)};
  }

  void blockOfRows(Value first, Value rows) {
    EvenParts tiles(e, rows, tileRows);
    e.loop(firstPanel, endPanel, plan.panelBlock, [&](Value begin) {
      Value end = e.min(e.add(begin, plan.panelBlock), endPanel);
      e.loop(e.index(0), e.index(plan.depth), plan.depthBlock, [&](Value firstK) {
        Value isLast = e.less(e.index(plan.depth), e.add(firstK, plan.depthBlock + 1));
        eachGroup(tileRows, begin, end, [&](int64_t count, Value panel) {
          // The group behind this one comes next, or the block's first one with the next k, or another task's.
          Value behind = e.add(panel, count), inBlock = e.less(behind, end);
          Value other = e.select(e.less(behind, endPanel), behind, followingPanel);
          Value nextPanel = e.select(inBlock, behind, e.select(isLast, other, begin));
          Value nextK = e.select(inBlock, firstK, e.select(isLast, e.index(0), e.add(firstK, plan.depthBlock)));
          Fetch fetch(*this, count, nextPanel, nextK, tiles.count);
          sumPanel = plan.depthBlock < plan.depth ? begin : panel;
          tiles.each(e, [&](Value t, Value row, int64_t n) {
            Value at = e.add(first, row);
            fetchResults(n, count, at, panel);
            Tile{n, count, at, row, panel, firstK, plan.depthBlock, fetch.ofTile(t)}.emit(*this);
          });
          e.when(isLast, [&] { finish(rows, count, first, panel); });
        });
      });
    });
  }

  // The places of a tile's results, and what an epilogue reads there, lie in other rows than the last tile's.
  void fetchResults(int64_t rows, int64_t count, Value row, Value panel) {
    constexpr int64_t line = 16;
    Value column = e.mul(panel, plan.panelColumns);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < count * plan.panelColumns; c += line) {
        Emitter::Values at = {e.add(row, r), e.add(column, c)};
        e.prefetch(op.getInit(), at, /*forWriting=*/true);
        for (Value input : op.getInputs())
          if (cast<MemRefType>(input.getType()).getRank() == 2)
            e.prefetch(input, at);
      }
  }

  // Spreads prefetches of what comes next over the iterations of all tiles. A tile fetches from one panel, for each k
  // of each piece `pace` elements.
  struct Fetch {
    Fetch(Contract &c, int64_t count, Value panel, Value firstK, Value tiles)
        : c(c), e(c.e), count(count), pieces(c.plan.panelLanes / c.plan.pieceLanes(tileRows)), panel(panel) {
      element = e.mul(firstK, c.plan.panelLanes);
      perPanel = e.max(e.div(tiles, count), e.index(1));
      pace = e.ceilDiv(e.index(c.plan.panelLanes), e.mul(perPanel, pieces));
    }

    TileFetch ofTile(Value tile) {
      Value p = e.min(e.div(tile, perPanel), e.index(count - 1)), turn = e.sub(tile, e.mul(p, perPanel));
      Value at = e.add(panel, p), ofPiece = e.mul(pace, c.plan.depthBlock);
      Value first = e.add(element, e.mul(e.mul(turn, pieces), ofPiece));
      return [this, at, ofPiece, first](Value piece, Value k) {
        Value next = e.add(e.add(first, e.mul(piece, ofPiece)), e.mul(k, pace));
        for (int64_t line = 0; line < 2; ++line)  // so many lie between two iterations if there are few tiles
          e.prefetch(c.op.getWeight(), {at, e.index(0), e.add(next, line * c.plan.lineElements)});
      };
    }

    Contract &c;
    Emitter &e;
    int64_t count, pieces;
    Value panel, element, perPanel, pace;
  };

  // `depth` steps from `firstK` on of some rows and panels; `sumRow` is the first row's place in `sums`.
  struct Tile {
    int64_t rows, count;
    Value row, sumRow, panel, firstK;
    int64_t depth;
    TileFetch fetch;

    void emit(Contract &c) {
      int64_t lanes = c.plan.pieceLanes(rows);
      if (lanes == c.plan.panelLanes)
        return emitPiece(c, c.e.index(0));
      c.e.loop(c.e.index(0), c.e.index(c.plan.panelLanes / lanes), 1, [&](Value piece) { emitPiece(c, piece); });
    }

    // Every panel's lanes from piece * pieceLanes on.
    void emitPiece(Contract &c, Value piece) {
      Emitter &e = c.e;
      int64_t perPanel = c.plan.pieceLanes(rows) / e.lanes, vectors = count * perPanel;
      Value firstLane = e.mul(piece, c.plan.pieceLanes(rows));
      Emitter::Values rowAt, panelAt;
      for (int64_t r = 0; r < rows; ++r)
        rowAt.push_back(e.add(row, r));
      for (int64_t p = 0; p < count; ++p)
        panelAt.push_back(e.add(panel, p));
      auto loadA = [&](int64_t r, Value k) { return e.loadScalar(c.op.getX(), {rowAt[r], e.add(firstK, k)}); };
      auto loadB = [&](Value k, int64_t v) {
        return e.load(c.op.getWeight(),
                      {panelAt[v / perPanel], e.add(firstK, k), e.add(firstLane, v % perPanel * e.lanes)});
      };
      Emitter::Values places;
      for (int64_t v = 0; v < vectors; ++v)
        places.push_back(c.e.add(c.sumColumn(panelAt[v / perPanel]), c.e.add(firstLane, v % perPanel * e.lanes)));
      RegisterTile tile{rows, vectors, c.plan.unroll(), loadA, loadB};
      if (fetch)
        tile.begin = [&](Value k) { fetch(piece, k); };
      Emitter::Values sums = tile.accumulate(e, before(c, places), depth);
      for (auto [i, sum] : llvm::enumerate(sums))
        e.store(sum, c.sumsOf(), sumAt(c, i, places));
    }

    // The sums so far; before the first k they are zero, and not read.
    Emitter::Values before(Contract &c, const Emitter::Values &places) {
      Emitter &e = c.e;
      Emitter::Values sums;
      Value known = depth < c.plan.depth ? e.firstLanes(e.min(firstK, e.index(e.lanes))) : Value();
      for (size_t i = 0; i < rows * places.size(); ++i)
        sums.push_back(known ? e.load(c.sumsOf(), sumAt(c, i, places), known) : e.splat(0));
      return sums;
    }

    Emitter::Values sumAt(Contract &c, size_t i, const Emitter::Values &places) {
      int64_t r = static_cast<int64_t>(i / places.size());
      return {c.e.add(c.sums ? sumRow : row, r), places[i % places.size()]};
    }
  };

  // Where sums wait: on the stack or in the result, and where in it.
  Value sumsOf() { return sums ? sums : op.getInit(); }
  Value sumColumn(Value panel) { return e.mul(sums ? e.sub(panel, sumPanel) : panel, plan.panelLanes); }

  // Epilogue and store of some rows and panels.
  void finish(Value rows, int64_t count, Value row, Value panel) {
    Emitter out(e.b, e.loc, std::min(e.lanes, plan.panelColumns));
    e.loop(e.index(0), rows, 1, [&](Value r) {
      e.loop(e.index(0), e.index(count), 1, [&](Value p) {
        e.loop(e.index(0), e.index(plan.panelColumns), out.lanes,
               [&](Value lane) { finishVector(out, r, e.add(row, r), e.add(panel, p), lane); });
      });
    });
  }

  // The sums of a gated panel are gate columns, then as many up columns.
  void finishVector(Emitter &out, Value sumRow, Value row, Value panel, Value lane) {
    Value column = e.add(e.mul(panel, plan.panelColumns), lane), place = e.add(sumColumn(panel), lane);
    bool partial = plan.width % plan.panelColumns != 0;
    Value mask = partial ? out.firstLanes(e.max(e.sub(e.index(plan.width), column), e.index(0))) : Value();
    auto sum = [&](int64_t offset) { return out.load(sumsOf(), {sums ? sumRow : row, e.add(place, offset)}); };
    Emitter::Values arguments = {sum(0)};
    if (op.getGated())
      arguments.push_back(sum(plan.panelColumns));
    for (Value input : op.getInputs())
      arguments.push_back(loadInput(out, input, row, column, mask));
    out.store(vectorize(out, op.getEpilogue().front(), arguments)[0], op.getInit(), {row, column}, mask);
  }

  // A vector input that fills the last panel needs no mask.
  Value loadInput(Emitter &out, Value input, Value row, Value column, Value mask) {
    auto type = cast<MemRefType>(input.getType());
    if (type.getRank() == 2)
      return out.load(input, {row, column}, mask);
    return out.load(input, {column}, type.getDimSize(0) >= plan.panels * plan.panelColumns ? Value() : mask);
  }

  kernel::ContractOp op;
  const ContractPlan plan;
  Emitter e;
  Value sums, sumPanel;                        // on the stack, [row of the block, column from that panel on]; or null
  Value firstPanel, endPanel, followingPanel;  // of the task; the first of the next one
};

struct ExpandContract : talc::impl::ExpandContractBase<ExpandContract> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::ContractOp> contracts;
    getOperation().walk([&](kernel::ContractOp op) { contracts.push_back(op); });
    for (kernel::ContractOp op : contracts) {
      OpBuilder builder(op);
      Contract(builder, op, lanes, cacheBytes).expand();
      op.erase();
    }
  }
};

}  // namespace
