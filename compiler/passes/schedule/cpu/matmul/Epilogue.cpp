// SPDX-License-Identifier: Apache-2.0
// The epilogue of a matmul makes results of sums, a vector of columns at a time, row by row, while the sums are in L1.
// Columns are masked only where they end within a panel.
#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

#include "compiler/passes/schedule/cpu/matmul/Prefetch.h"

using namespace mlir;

namespace talc {

namespace {

class Epilogue {
public:
  Epilogue(const MatmulContext &c, kernel::MatmulOp op, const StoredSums &sums)
      : c(c), op(op), sums(sums), shape(c.plan.shape),
        out(c.e.b, c.e.loc, std::min(c.e.lanes, c.plan.shape.panelColumns)) {}

  void emit(Value rows, Value panels, Value panel) {
    out.loop(out.index(0), rows, 1, [&](Value row) {
      out.loop(out.index(0), panels, 1, [&](Value p) { emitPanel(row, out.add(panel, p)); });
    });
  }

private:
  void emitPanel(Value row, Value panel) {
    out.loop(out.index(0), out.index(shape.panelColumns), out.lanes, [&](Value lane) { emitVector(row, panel, lane); });
  }

  // The sums of a gated panel are gate columns, then as many up columns.
  void emitVector(Value row, Value panel, Value lane) {
    // If groups do not fill their panels, columns have to be counted group by group.
    int64_t outputs = shape.n / shape.groups, panels = shape.panels / shape.groups;
    bool inGroup = shape.groups > 1 && outputs % shape.panelColumns != 0;
    Value index = inGroup ? out.rem(panel, panels) : panel;
    Value column = out.add(out.mul(index, shape.panelColumns), lane), mask = columnMask(column, outputs, inGroup);
    if (inGroup)
      column = out.add(column, out.mul(out.div(panel, panels), outputs));
    Value first = out.add(sums.column(c, panel), lane), at = out.add(sums.firstRow, row);
    auto sum = [&](int64_t offset) { return out.load(sums.memory(c), {sums.row(c, row), out.add(first, offset)}); };
    Emitter::Values arguments = {sum(0)};
    if (op.getGated())
      arguments.push_back(sum(shape.panelColumns));
    for (Value input : op.getInputs())
      arguments.push_back(loadInput(input, at, column, mask));
    out.store(vectorize(out, op.getEpilogue().front(), arguments)[0], c.result, {at, column}, mask);
  }

  // Null: all lanes are columns. `outputs`: columns of a group, if `column` is counted in it.
  Value columnMask(Value column, int64_t outputs, bool inGroup) {
    int64_t width = inGroup ? outputs : shape.n;
    if (width % shape.panelColumns == 0)
      return {};
    return out.firstLanes(out.max(out.sub(out.index(width), column), out.index(0)));
  }

  // A vector input that fills the last panel needs no mask.
  Value loadInput(Value input, Value row, Value column, Value mask) {
    auto type = cast<MemRefType>(input.getType());
    if (type.getRank() == 2)
      return out.load(input, {row, column}, mask);
    return out.load(input, {column}, type.getDimSize(0) >= shape.panels * shape.panelColumns ? Value() : mask);
  }

  const MatmulContext &c;
  kernel::MatmulOp op;
  const StoredSums &sums;
  const MatmulShape &shape;
  Emitter out;  // its vectors are at most as wide as the columns of a panel
};

}  // namespace

MatmulContext makeMatmulContext(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op) {
  MatmulContext c = {e,
                     MatmulPlan(MatmulShape(op), e.traits, tasks.getPlanAttr()),
                     tasks,
                     op.getX(),
                     op.getWeight(),
                     op.getInit(),
                     nullptr};
  c.finish = [op](const MatmulContext &c, const StoredSums &sums, Value rows, Value panels, Value panel) {
    Epilogue(c, op, sums).emit(rows, panels, panel);
  };
  c.prefetchResults = [op](const MatmulContext &c, int64_t rows, int64_t panels, Value row, Value panel) mutable {
    prefetchResults(c, op.getInputs(), rows, panels, row, panel);
  };
  return c;
}

}  // namespace talc
