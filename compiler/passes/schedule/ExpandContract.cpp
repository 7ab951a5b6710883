// SPDX-License-Identifier: Apache-2.0
// expand-contract: loops and register tiles for kernel.contract.
//
//   for each block of rows that a cache holds
//     for each panel of this thread            (K x 16 of the weight stay in cache while the rows pass)
//       for each tile of 6 (or 5) rows         (two panels at a time with vectors of 16 lanes)
//         12 accumulators; for k: 2 vectors of the panel, 6 broadcasts, 12 fused multiply-adds
//         epilogue on the accumulators; store
//
// Fewer than 6 rows take several panels at a time instead, so that the multiply-adds still overlap (panelsFor).
#include "compiler/passes/Passes.h"
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
    rowBlock = std::max<int64_t>(48, cacheBytes / (depth * 4)) / tileRows * tileRows;
  }

  void expand() {
    Value zero = e.index(0), allRows = e.rows(op.getX()), allPanels = e.index(panels);
    std::tie(firstPanel, endPanel) = e.share(op.getStep(), allPanels, kernel::Share::columns);
    firstRow = zero;
    endRow = allRows;
    if (shareOf(op) == kernel::Share::adaptive) {
      Value byRows = kernel::ByRowsOp::create(e.b, e.loc, op.getStep());
      auto [first, end] = e.share(op.getStep(), allRows, kernel::Share::rows);
      firstRow = e.select(byRows, first, zero);
      endRow = e.select(byRows, end, allRows);
      firstPanel = e.select(byRows, zero, firstPanel);
      endPanel = e.select(byRows, allPanels, endPanel);
    }
    auto type = cast<MemRefType>(op.getX().getType());
    if (!type.isDynamicDim(0) && type.getDimSize(0) < tileRows)
      return fewRows(type.getDimSize(0));
    Value count = e.sub(endRow, firstRow);
    e.when(e.less(count, e.index(tileRows)),
           [&] { e.dispatch(count, 1, tileRows - 1, [&](int64_t n) { fewRows(n); }); });
    e.when(e.less(e.index(tileRows - 1), count), [&] { manyRows(count); });
  }

private:
  // Runs body(panels at a time, first panel) over this thread's panels.
  void eachPanels(int64_t rows, llvm::function_ref<void(int64_t, Value)> body) {
    int64_t step = panelsFor(rows, e.lanes);
    Value whole = e.add(firstPanel, e.mul(e.div(e.sub(endPanel, firstPanel), step), step));
    e.loop(firstPanel, whole, step, [&](Value panel) { body(step, panel); });
    if (step > 1)
      e.loop(whole, endPanel, 1, [&](Value panel) { body(1, panel); });
  }

  void fewRows(int64_t rows) {
    eachPanels(rows, [&](int64_t count, Value panel) { tile(rows, count, firstRow, panel); });
  }

  // Blocks of about equal size, none above rowBlock.
  void manyRows(Value count) {
    Value blocks = e.ceilDiv(count, rowBlock);
    Value size = e.mul(e.ceilDiv(e.div(e.add(count, e.sub(blocks, e.index(1))), blocks), tileRows), tileRows);
    e.loop(firstRow, endRow, size, [&](Value first) {
      Value rows = e.min(size, e.sub(endRow, first));
      // rows = 6a + 5b with the smallest b, when there is one; otherwise 6a and a rest below 6.
      Value fives = e.rem(e.sub(e.index(tileRows), e.rem(rows, tileRows)), tileRows);
      Value fits = e.less(e.mul(fives, tileRows - 1), e.add(rows, 1));
      fives = e.select(fits, fives, e.index(0));
      Value sixes = e.div(e.sub(rows, e.mul(fives, tileRows - 1)), tileRows);
      Value endSixes = e.add(first, e.mul(sixes, tileRows));
      Value endFives = e.add(endSixes, e.mul(fives, tileRows - 1));
      Value rest = e.sub(e.add(first, rows), endFives);
      eachPanels(tileRows, [&](int64_t wide, Value panel) {
        e.loop(first, endSixes, tileRows, [&](Value row) { tile(tileRows, wide, row, panel); });
        e.loop(endSixes, endFives, tileRows - 1, [&](Value row) { tile(tileRows - 1, wide, row, panel); });
        e.dispatch(rest, 1, tileRows - 1, [&](int64_t n) { tile(n, wide, endFives, panel); });
      });
    });
  }

  void tile(int64_t rows, int64_t count, Value row, Value panel) {
    int64_t perPanel = panelLanes / e.lanes;
    Emitter::Values rowAt, panelAt;
    for (int64_t r = 0; r < rows; ++r)
      rowAt.push_back(e.add(row, r));
    for (int64_t p = 0; p < count; ++p)
      panelAt.push_back(e.add(panel, p));
    RegisterTile tile{rows, count * perPanel, /*unroll=*/2,
                      [&](int64_t r, Value k) {
                        return e.loadScalar(op.getX(), {rowAt[r], k});
                      },
                      [&](Value k, int64_t v) {
                        return e.load(op.getWeight(), {panelAt[v / perPanel], k, e.index(v % perPanel * e.lanes)});
                      }};
    Emitter::Values zeros(rows * tile.vectors, e.splat(0));
    Emitter::Values sums = tile.accumulate(e, zeros, depth);
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t p = 0; p < count; ++p)
        finish(rowAt[r], panelAt[p], ArrayRef(sums).slice((r * count + p) * perPanel, perPanel));
  }

  // Epilogue and store of one row of one panel. The sums of a gated panel are gate columns, then as many up columns.
  void finish(Value row, Value panel, ArrayRef<Value> sums) {
    Emitter::Values halves;
    Emitter out(e.b, e.loc, op.getGated() && sums.size() == 1 ? e.lanes / 2 : e.lanes);
    if (out.lanes != e.lanes) {
      for (int64_t half : {0, 1})
        halves.push_back(vector::ExtractStridedSliceOp::create(e.b, e.loc, sums[0], half * out.lanes, out.lanes, 1));
      sums = halves;
    }
    Value column = out.mul(panel, panelColumns);
    size_t outputs = op.getGated() ? sums.size() / 2 : sums.size();
    for (size_t v = 0; v < outputs; ++v) {
      Value at = out.add(column, v * out.lanes);
      bool partial = width % panelColumns != 0;
      Value mask = partial ? out.firstLanes(out.max(out.sub(out.index(width), at), out.index(0))) : Value();
      Emitter::Values arguments = {sums[v]};
      if (op.getGated())
        arguments.push_back(sums[v + outputs]);
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
  int64_t panels, depth, panelLanes, panelColumns, width, rowBlock;
  Value firstRow, endRow, firstPanel, endPanel;  // this thread's share
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
