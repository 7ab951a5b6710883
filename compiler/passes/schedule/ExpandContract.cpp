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
// A group fills the accumulators: 4 panels with vectors of 16 lanes, 1 with 8; with few rows more of them, so that the
// multiply-adds still overlap (panelsFor). Sums are stored, so that the code of an epilogue exists once and not for
// every shape of a tile, and so that k can be divided: a chain goes on where it stopped. A divided k leaves them in the
// result itself, which has room for many groups; where that is not possible (gated, or a last panel that is not full)
// they lie on the stack, and a block of panels is one group.
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/Claims.h"
#include "compiler/passes/schedule/RegisterTile.h"

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
      : op(op), e(builder, op.getLoc(), lanes) {
    auto weight = cast<MemRefType>(op.getWeight().getType());
    panels = weight.getDimSize(0);
    depth = weight.getDimSize(1);
    panelLanes = weight.getDimSize(2);
    panelColumns = op.getGated() ? panelLanes / 2 : panelLanes;
    width = cast<MemRefType>(op.getInit().getType()).getDimSize(1);
    depthBlock = dividing(depth);
    int64_t elementBytes = weight.getElementTypeBitWidth() / 8;
    isLarge = weight.getNumElements() * elementBytes >= cacheBytes / 4;
    int64_t group = groupPanels(tileRows), groupBytes = depthBlock * panelLanes * group * elementBytes;
    // Half of the cache: what passes through it, and what else runs on the core, takes its part.
    chooseBlocks(group, cacheBytes / 2 - 2 * groupBytes);
  }

  void expand() {
    auto type = cast<MemRefType>(op.getX().getType());
    bool few = !type.isDynamicDim(0) && type.getDimSize(0) <= tileRows;
    // With up to `most` rows a tile takes more panels than with six.
    int64_t most = few ? type.getDimSize(0) : 0;
    while (!few && groupPanels(most + 1) > groupPanels(tileRows))
      ++most;
    // Before any branch, so that they belong to the function's frame.
    Value sumsOfFew = most > 0 ? e.stackBuffer({most, groupPanels(1) * panelLanes}) : Value();
    bool wait = !few && !sumsInResult;
    Value sumsOfMany = wait ? e.stackBuffer({rowBlock, groupPanels(tileRows) * panelLanes}) : Value();
    std::tie(firstPanel, endPanel) = e.share(op.getStep(), e.index(panels), kernel::Share::columns);
    sums = sumsOfFew;
    if (few)
      return fewRows(most);
    Value count = e.rows(op.getX());
    e.when(e.less(count, e.index(most + 1)), [&] { e.dispatch(count, 1, most, [&](int64_t rows) { fewRows(rows); }); });
    sums = sumsOfMany;
    e.when(e.less(e.index(most), count), [&] { manyRows(count); });
  }

private:
  // Rows of a block at most; sums on the stack are those of one group.
  static constexpr int64_t mostRows = 192;

  // The largest even divisor of a large depth that makes a block of k, or all of it.
  static int64_t dividing(int64_t depth) {
    constexpr int64_t undivided = 768, least = 256, most = 512;
    for (int64_t size = most; depth > undivided && size >= least; size -= 2)
      if (depth % size == 0)
        return size;
    return depth;
  }

  // Rows with all of k beside one group, or rows with a block of k beside their sums for many groups.
  void chooseBlocks(int64_t group, int64_t room) {
    sumsInResult = depthBlock < depth && !op.getGated() && width == panels * panelLanes;
    rowBlock = sumsInResult ? mostRows : std::clamp<int64_t>(room / (depth * 4), 8 * tileRows, mostRows);
    int64_t groups = (room / (rowBlock * 4) - depthBlock) / (panelLanes * group);
    panelBlock = depthBlock == depth ? panels : sumsInResult && groups > 1 ? groups * group : group;
  }

  int64_t groupPanels(int64_t rows) const { return std::min(panelsFor(rows, e.lanes), panels); }

  // Runs body(panels at a time, first panel) over [first, end). A rest is halved again and again: a tile of one panel
  // has too few chains to keep the multiply-adds busy.
  void eachGroup(int64_t rows, Value first, Value end, llvm::function_ref<void(int64_t, Value)> body) {
    for (int64_t step = groupPanels(rows); step > 0; step /= 2) {
      Value whole = e.add(first, e.mul(e.div(e.sub(end, first), step), step));
      e.loop(first, whole, step, [&](Value panel) { body(step, panel); });
      first = whole;
    }
  }

  void fewRows(int64_t rows) {
    eachGroup(rows, firstPanel, endPanel, [&](int64_t count, Value panel) {
      auto begin = rows == 1 && isLarge ? fetchStreams(count, panel) : nullptr;
      sumPanel = panel;
      Tile{rows, count, e.index(0), e.index(0), panel, e.index(0), depth, begin}.emit(*this);
      finish(e.index(rows), count, e.index(0), panel);
    });
  }

  // One row reads a weight once, and a large one from memory, in as many streams as there are panels: fetches what
  // comes a KiB later in each, since the processor's own prefetching begins anew at every page.
  std::function<void(Value)> fetchStreams(int64_t count, Value panel) {
    constexpr int64_t ahead = 1024;
    Value weight = op.getWeight();
    int64_t rowBytes = panelLanes * cast<MemRefType>(weight.getType()).getElementTypeBitWidth() / 8;
    return [this, weight, count, panel, rowBytes](Value k) {
      for (int64_t p = 0; p < count; ++p)
        e.prefetch(weight, {e.add(panel, p), e.add(k, ahead / rowBytes), e.index(0)});
    };
  }

  // A task is a block of rows and a group of panels or, if this thread does not claim tasks, all of its panels. Those
  // of a block follow each other, so that its rows stay in the second cache.
  void manyRows(Value count) {
    Value dealt = isDealt(count), zero = e.index(0), one = e.index(1);
    int64_t group = groupPanels(tileRows), groups = llvm::divideCeil(panels, group);
    Blocks blocks = blocksOf(count, groups, dealt);
    Value perBlock = e.select(dealt, e.index(groups), one), all = e.mul(blocks.shares, blocks.ofShare);
    Value tasks = e.mul(all, perBlock);
    Claims claims(e, op.getStep(), tasks, dealt);
    Value ownFirst = firstPanel, ownEnd = endPanel;
    auto firstOf = [&](Value task) { return e.select(dealt, e.mul(e.rem(task, perBlock), group), ownFirst); };
    loopWithin(e, claims.next(zero), zero, tasks, [&](Value task) {
      Value block = e.div(task, perBlock), following = e.add(task, 1);
      firstPanel = firstOf(task);
      endPanel = e.select(dealt, e.min(e.index(panels), e.add(firstPanel, group)), ownEnd);
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
    Value rows = e.ceilDiv(count, shares), blocks = e.ceilDiv(rows, rowBlock);
    Value wanted = e.min(e.ceilDiv(e.mul(sharing, tasksOfShare), groups), e.div(rows, leastRows));
    return {shares, e.select(dealt, e.max(blocks, wanted), blocks)};
  }

  void blockOfRows(Value first, Value rows) {
    Tiles tiles(e, rows);
    e.loop(firstPanel, endPanel, panelBlock, [&](Value begin) {
      Value end = e.min(e.add(begin, panelBlock), endPanel);
      e.loop(e.index(0), e.index(depth), depthBlock, [&](Value firstK) {
        Value isLast = e.less(e.index(depth), e.add(firstK, depthBlock + 1));
        eachGroup(tileRows, begin, end, [&](int64_t count, Value panel) {
          // The group behind this one comes next, or the block's first one with the next k, or another task's.
          Value behind = e.add(panel, count), inBlock = e.less(behind, end);
          Value other = e.select(e.less(behind, endPanel), behind, followingPanel);
          Value nextPanel = e.select(inBlock, behind, e.select(isLast, other, begin));
          Value nextK = e.select(inBlock, firstK, e.select(isLast, e.index(0), e.add(firstK, depthBlock)));
          Fetch fetch(e, op.getWeight(), depthBlock, count, nextPanel, nextK, tiles.count);
          sumPanel = depthBlock < depth ? begin : panel;
          tiles.each(e, [&](Value t, Value row, int64_t n) {
            Value at = e.add(first, row);
            fetchResults(n, count, at, panel);
            Tile{n, count, at, row, panel, firstK, depthBlock, fetch.ofTile(t)}.emit(*this);
          });
          e.when(isLast, [&] { finish(rows, count, first, panel); });
        });
      });
    });
  }

  // The rows of a block, dealt evenly to as few tiles as possible.
  struct Tiles {
    Tiles(Emitter &e, Value rows)
        : count(e.ceilDiv(rows, tileRows)), least(e.div(rows, count)), larger(e.rem(rows, count)) {}

    // Runs body(tile, first row, rows).
    void each(Emitter &e, llvm::function_ref<void(Value, Value, int64_t)> body) const {
      e.loop(e.index(0), count, 1, [&](Value t) {
        Value row = e.add(e.mul(t, least), e.min(t, larger));
        Value size = e.add(least, e.select(e.less(t, larger), e.index(1), e.index(0)));
        e.dispatch(size, 1, tileRows, [&](int64_t n) { body(t, row, n); });
      });
    }

    Value count, least, larger;
  };

  // The places of a tile's results, and what an epilogue reads there, lie in other rows than the last tile's.
  void fetchResults(int64_t rows, int64_t count, Value row, Value panel) {
    constexpr int64_t line = 16;
    Value column = e.mul(panel, panelColumns);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t c = 0; c < count * panelColumns; c += line) {
        Emitter::Values at = {e.add(row, r), e.add(column, c)};
        e.prefetch(op.getInit(), at, /*forWriting=*/true);
        for (Value input : op.getInputs())
          if (cast<MemRefType>(input.getType()).getRank() == 2)
            e.prefetch(input, at);
      }
  }

  // Spreads prefetches of what comes next over the steps of all tiles. A tile fetches from one panel, `pace` elements
  // with each k.
  struct Fetch {
    Fetch(Emitter &e, Value weight, int64_t block, int64_t count, Value panel, Value firstK, Value tiles)
        : e(e), weight(weight), block(block), count(count), panel(panel) {
      int64_t lanes = cast<MemRefType>(weight.getType()).getDimSize(2);
      element = e.mul(firstK, lanes);
      perPanel = e.max(e.div(tiles, count), e.index(1));
      pace = e.ceilDiv(e.index(lanes), perPanel);
    }

    std::function<void(Value)> ofTile(Value tile) {
      Value p = e.min(e.div(tile, perPanel), e.index(count - 1)), turn = e.sub(tile, e.mul(p, perPanel));
      Value at = e.add(panel, p), first = e.add(element, e.mul(e.mul(turn, block), pace));
      return [this, at, first](Value k) { e.prefetch(weight, {at, e.index(0), e.add(first, e.mul(k, pace))}); };
    }

    Emitter &e;
    Value weight;
    int64_t block, count;
    Value panel, element, perPanel, pace;
  };

  // `depth` steps from `firstK` on of some rows and panels; `sumRow` is the first row's place in `sums`.
  struct Tile {
    int64_t rows, count;
    Value row, sumRow, panel, firstK;
    int64_t depth;
    std::function<void(Value)> begin;

    void emit(Contract &c) {
      Emitter &e = c.e;
      int64_t perPanel = c.panelLanes / e.lanes, vectors = count * perPanel;
      Emitter::Values rowAt, panelAt;
      for (int64_t r = 0; r < rows; ++r)
        rowAt.push_back(e.add(row, r));
      for (int64_t p = 0; p < count; ++p)
        panelAt.push_back(e.add(panel, p));
      auto loadA = [&](int64_t r, Value k) { return e.loadScalar(c.op.getX(), {rowAt[r], e.add(firstK, k)}); };
      auto loadB = [&](Value k, int64_t v) {
        Value lane = e.index(v % perPanel * e.lanes);
        return e.load(c.op.getWeight(), {panelAt[v / perPanel], e.add(firstK, k), lane});
      };
      // As many multiply-adds per iteration with narrow vectors, of which a tile has half as many.
      RegisterTile tile{rows, vectors, /*unroll=*/e.lanes > 8 ? 2 : 4, loadA, loadB, begin};
      Emitter::Values sums = tile.accumulate(e, before(c, vectors), depth);
      for (auto [i, sum] : llvm::enumerate(sums))
        e.store(sum, c.sumsOf(), sumAt(c, i, vectors));
    }

    // The sums so far; before the first k they are zero, and not read.
    Emitter::Values before(Contract &c, int64_t vectors) {
      Emitter &e = c.e;
      Emitter::Values sums;
      Value known = depth < c.depth ? e.firstLanes(e.min(firstK, e.index(e.lanes))) : Value();
      for (int64_t i = 0; i < rows * vectors; ++i)
        sums.push_back(known ? e.load(c.sumsOf(), sumAt(c, i, vectors), known) : e.splat(0));
      return sums;
    }

    Emitter::Values sumAt(Contract &c, int64_t i, int64_t vectors) {
      int64_t r = i / vectors, column = i % vectors * c.e.lanes;
      Value at = c.e.add(panel, column / c.panelLanes);
      return c.sumAt(c.e.add(sumRow, r), c.e.add(row, r), at, column % c.panelLanes);
    }
  };

  // Where sums wait: on the stack or in the result, and where in it.
  Value sumsOf() { return sums ? sums : op.getInit(); }
  Emitter::Values sumAt(Value sumRow, Value row, Value panel, int64_t lane) {
    Value first = sums ? e.sub(panel, sumPanel) : panel;
    return {sums ? sumRow : row, e.add(e.mul(first, panelLanes), lane)};
  }

  void finish(Value rows, int64_t count, Value row, Value panel) {
    e.loop(e.index(0), rows, 1, [&](Value r) {
      for (int64_t p = 0; p < count; ++p)
        finishPanel(r, e.add(row, r), e.add(panel, p));
    });
  }

  // Epilogue and store of one row of one panel. The sums of a gated panel are gate columns, then as many up columns.
  void finishPanel(Value sumRow, Value row, Value panel) {
    Emitter out(e.b, e.loc, std::min(e.lanes, panelColumns));
    Value column = out.mul(panel, panelColumns);
    for (int64_t offset = 0; offset < panelColumns; offset += out.lanes) {
      Value at = out.add(column, offset);
      bool partial = width % panelColumns != 0;
      Value mask = partial ? out.firstLanes(out.max(out.sub(out.index(width), at), out.index(0))) : Value();
      auto sum = [&](int64_t first) { return out.load(sumsOf(), sumAt(sumRow, row, panel, first + offset)); };
      Emitter::Values arguments = {sum(0)};
      if (op.getGated())
        arguments.push_back(sum(panelColumns));
      for (Value input : op.getInputs())
        arguments.push_back(loadInput(out, input, row, at, mask));
      Value result = vectorize(out, op.getEpilogue().front(), arguments)[0];
      out.store(result, op.getInit(), {row, at}, mask);
    }
  }

  // A vector input that fills the last panel needs no mask.
  Value loadInput(Emitter &out, Value input, Value row, Value column, Value mask) {
    auto type = cast<MemRefType>(input.getType());
    if (type.getRank() == 2)
      return out.load(input, {row, column}, mask);
    return out.load(input, {column}, type.getDimSize(0) >= panels * panelColumns ? Value() : mask);
  }

  kernel::ContractOp op;
  Emitter e;
  int64_t panels, depth, panelLanes, panelColumns, width, rowBlock, panelBlock, depthBlock;
  bool isLarge;                                // beside others of its kind it does not stay in the second cache
  bool sumsInResult;                           // of many rows
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
