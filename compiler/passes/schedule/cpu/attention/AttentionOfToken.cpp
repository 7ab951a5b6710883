// SPDX-License-Identifier: Apache-2.0
// Attention, heads of one token: for sequences of one row in a step of many, which have little to do for each head.
//
//   rows of the task:  head 0: queries 0 .. group-1 | head 1: queries 0 .. group-1 | ...      all of the same token
//
// All rows see the same keys. The products of some heads go through one loop side by side: their chains of
// multiply-adds hide each other's latency.
#include "compiler/passes/schedule/cpu/attention/AttentionStrategies.h"

using namespace mlir;

namespace talc {

namespace {

class HeadsOfToken : public TaskRows {
public:
  HeadsOfToken(Emitter &e, kernel::SpanOp span, Value head, int64_t heads, int64_t group)
      : TaskRows(span, e.index(heads * group)), e(e), head(head), group(group) {}

  Value token(Value) const override { return firstToken; }
  Value position(Value) const override { return firstPosition; }
  Value queryHead(Value row) const override { return e.add(e.mul(head, group), row); }

private:
  Emitter &e;
  const Value head;
  const int64_t group;
};

class Token {
public:
  Token(AttentionLoops &loops, kernel::SpanOp span, Value head, int64_t heads)
      : loops(loops), e(loops.e), head(head), heads(heads), group(loops.group),
        rows(loops.e, span, head, heads, loops.group) {}

  void expand() {
    loops.begin(rows);
    loops.eachBlock(rows, [&](Value first, Value count) {
      loops.softmax.beginBlock(first);
      auto [from, to] = loops.seenOf(e.index(0), e.index(0), first, e.index(0), count);
      e.when(e.less(from, to), [&, from = from, to = to] {
        computeScores(first, from, to);
        loops.weighScores(rows, first, count);
        addValues(first, from, to);
      });
      loops.softmax.endBlock();
    });
  }

private:
  // Runs body for heads side by side: so many that eight chains of multiply-adds, if there are as many heads, hide
  // their latency.
  void eachHeads(Value firstKey, int64_t vectors, llvm::function_ref<void(ArrayRef<TileRows>)> body) {
    constexpr int64_t chains = 8;
    int64_t beside = largestDivisor(heads, chains / (group * vectors));
    e.loop(e.index(0), e.index(heads), beside, [&](Value first) {
      SmallVector<TileRows> tiles;
      for (int64_t i = 0; i < beside; ++i) {
        Value h = e.add(first, i);
        tiles.push_back({e.mul(h, group), loops.keys.inSlot(e.add(head, h), firstKey)});
      }
      body(tiles);
    });
  }

  void computeScores(Value firstKey, Value from, Value to) {
    int64_t vectors = loops.tiles.perPanel();
    eachHeads(firstKey, vectors, [&](ArrayRef<TileRows> beside) {
      Emitter::Values queries = loops.queriesOf(rows, beside, group);
      e.loop(e.div(from, loops.keys.layout.tokens), e.ceilDiv(to, loops.keys.layout.tokens), 1,
             [&](Value panel) { loops.tiles.computeScores(beside, queries, panel, vectors); });
    });
  }

  void addValues(Value firstKey, Value from, Value to) {
    loops.tiles.eachColumns(group, [&](Value column, int64_t vectors) {
      eachHeads(firstKey, vectors,
                [&](ArrayRef<TileRows> beside) { loops.tiles.addValues(beside, group, column, vectors, from, to); });
    });
  }

  AttentionLoops &loops;
  Emitter &e;
  const Value head;
  const int64_t heads, group;
  const HeadsOfToken rows;
};

}  // namespace

void expandHeadsOfToken(AttentionLoops &loops, kernel::SpanOp span, Value head, int64_t heads) {
  Token(loops, span, head, heads).expand();
}

}  // namespace talc
