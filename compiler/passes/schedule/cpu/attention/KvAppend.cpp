// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.kv_append: keys go to panels of 16 tokens, in which a feature's values lie side by side; values
// go to rows.
//
//   for each sequence, for each panel, those of its tokens that are in the task:
//     for each head:  keys = transpose(rows), as many features as a vector has lanes at a time;  values = rows
//
// A panel that the tokens do not fill keeps its other tokens: stores are masked, or single if there are few tokens. A
// panel of a ring that holds sink tokens is stored twice. In a quantized cache every token is stored by itself.
#include "compiler/passes/schedule/attention/KvLayout.h"
#include "compiler/passes/schedule/cpu/attention/KvAccess.h"
#include "compiler/passes/schedule/cpu/rows/CpuRowOps.h"

using namespace mlir;

namespace talc {

namespace {

// Fewer tokens go one by one.
constexpr int64_t minTransposed = 4;

class Append {
public:
  Append(Emitter &e, kernel::KvAppendOp op)
      : op(op), e(e), layout(cast<KvCacheType>(op.getCache().getType())), panels(e, layout) {}

  void expand() {
    auto tasks = kernel::TasksOp::around(op);
    bool byHeads = tasks.getSpace() == kernel::TaskSpace::heads;
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPoint(tasks);
      tasks.getExtentsMutable().assign(byHeads ? e.index(layout.heads) : e.rows(op.getKeys()));
    }
    byHeads ? appendHead(tasks.part(0)) : appendSequences(tasks.part(0), tasks.part(1));
  }

private:
  void appendSequences(Value first, Value end) {
    Value spans = kernel::SpanCountOp::create(e.b, e.loc, op.getStep());
    e.loop(e.index(0), spans, 1, [&](Value s) {
      kernel::SpanOp span = kernel::SpanOp::create(e.b, e.loc, op.getStep(), s);
      Value begin = e.max(first, span.getFirstToken());
      Value stop = e.min(end, e.add(span.getFirstToken(), span.getTokens()));
      e.when(e.less(begin, stop), [&] { rowsOf(span, begin, stop); });
    });
  }

  // Appends one head of every token.
  void appendHead(Value head) {
    e.loop(e.index(0), e.rows(op.getKeys()), 1, [&](Value row) {
      enter(kernel::SlotOp::create(e.b, e.loc, op.getStep(), row));
      Value position = kernel::PositionOp::create(e.b, e.loc, op.getStep(), row);
      firstLane = e.rem(position, layout.tokens);
      firstRow = row;
      forEachPanel(e.div(position, layout.tokens), [&] { appendOneByOne(head, e.index(1)); });
    });
  }

  void forEachPanel(Value number, llvm::function_ref<void()> body) {
    forEachPanelIndex(e, layout, number, [&](Value place) {
      panel = place;
      body();
    });
  }

  void enter(Value slot) { memory = panels.slotMemory(op.getStep(), op.getCache(), slot); }

  // Goes panel by panel, head by head: the rows stay in the TLB and the panel in L1.
  void rowsOf(kernel::SpanOp span, Value begin, Value stop) {
    enter(span.getSlot());
    Value offset = e.sub(span.getFirstPosition(), span.getFirstToken());
    Value from = e.add(begin, offset), to = e.add(stop, offset);
    e.loop(e.div(from, layout.tokens), e.ceilDiv(to, layout.tokens), 1, [&](Value p) {
      Value panelBegin = e.mul(p, layout.tokens), position = e.max(from, panelBegin);
      firstLane = e.sub(position, panelBegin);
      firstRow = e.sub(position, offset);
      Value count = e.sub(e.min(to, e.add(panelBegin, layout.tokens)), position);
      forEachPanel(
          p, [&] { e.loop(e.index(0), e.index(layout.heads), 1, [&](Value head) { appendPanel(head, count); }); });
    });
  }

  // Masked stores of narrow vectors are slow on some processors.
  void appendPanel(Value head, Value count) {
    if (!panels.keys->storesVectors())
      return appendOneByOne(head, count);
    auto partlyFull = [&] {
      if (e.lanes < layout.tokens || !panels.keys->storesLanes())
        return appendOneByOne(head, count);
      e.choose(
          e.less(count, e.index(minTransposed)), [&] { appendOneByOne(head, count); },
          [&] { transposed(head, count, /*full=*/false); });
    };
    e.choose(e.less(count, e.index(layout.tokens)), partlyFull, [&] { transposed(head, count, /*full=*/true); });
  }

  // The address of row r of a panel's rows.
  TokenAddress addressOf(Value head, Value r) { return {panel, head, e.add(firstLane, r)}; }

  void appendOneByOne(Value head, Value count) {
    Value base = e.mul(head, layout.width);
    e.loop(e.index(0), count, 1, [&](Value r) {
      panels.keys->store(memory.keys, addressOf(head, r), op.getKeys(), e.add(firstRow, r), base);
    });
    storeValues(head, count);
  }

  void storeValues(Value head, Value count) {
    Value base = e.mul(head, layout.width);
    e.loop(e.index(0), count, 1, [&](Value r) {
      panels.values->store(memory.values, addressOf(head, r), op.getValues(), e.add(firstRow, r), base);
    });
  }

  void transposed(Value head, Value count, bool full) {
    int64_t wholeWidth = layout.width / e.lanes * e.lanes;
    e.loop(e.index(0), e.index(wholeWidth), e.lanes, [&](Value column) { square(head, count, column, e.lanes, full); });
    if (wholeWidth < layout.width)
      square(head, count, e.index(wholeWidth), layout.width - wholeWidth, full);
    storeValues(head, count);
  }

  // Transposes and stores `columns` features of a panel's tokens.
  void square(Value head, Value count, Value column, int64_t columns, bool full) {
    Value at = e.add(e.mul(head, layout.width), column), last = e.sub(e.add(firstRow, count), e.index(1));
    Value mask = columns < e.lanes ? e.firstLanes(columns) : Value();
    for (int64_t lane = 0; lane < layout.tokens; lane += e.lanes) {
      Emitter::Values rows;
      for (int64_t i = 0; i < e.lanes; ++i) {
        Value row = e.add(firstRow, lane + i);
        if (!full)  // rows outside of the panel may be read; they are not stored
          row = e.max(firstRow, e.min(last, e.sub(row, firstLane)));
        rows.push_back(e.load(op.getKeys(), {row, at}, mask));
      }
      Value mask = full ? Value() : e.lanesBetween(firstLane, e.add(firstLane, count));
      Emitter::Values features = e.transpose(rows);
      for (int64_t i = 0; i < columns; ++i)
        e.store(features[i], memory.keys, {panel, head, e.add(column, i), e.index(lane)}, mask);
    }
  }

  kernel::KvAppendOp op;
  Emitter &e;
  const kernel::KvLayout layout;
  KvStorage panels;
  KvBlock memory;                    // the slot of the sequence
  Value panel, firstLane, firstRow;  // where the first row of a panel goes, and its index
};

}  // namespace

void expandKvAppend(Emitter &e, kernel::KvAppendOp op) {
  Append(e, op).expand();
}

}  // namespace talc
