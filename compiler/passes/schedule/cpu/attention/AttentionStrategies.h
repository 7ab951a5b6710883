// SPDX-License-Identifier: Apache-2.0
// Strategies for a task of attention: rows of one head, heads of one token, the queries of a token that share a head,
// or one block of a single token's keys (flash decoding).
#pragma once

#include "compiler/passes/schedule/cpu/attention/AttentionLoops.h"

namespace talc {

// The query rows [firstRow, + count) of a key-value head: row m is query m % group of token m / group of the sequence.
class HeadRows : public TaskRows {
public:
  HeadRows(Emitter &e, kernel::SpanOp span, Value head, Value firstRow, Value count, int64_t group)
      : TaskRows(span, count), head(head), e(e), firstRow(firstRow), group(group) {}

  Value token(Value row) const override { return e.add(firstToken, tokenIndex(row)); }
  Value position(Value row) const override { return e.add(firstPosition, tokenIndex(row)); }
  Value queryHead(Value row) const override { return e.add(e.mul(head, group), e.rem(e.add(firstRow, row), group)); }

  const Value head;

private:
  // Counted from the sequence's first in the step.
  Value tokenIndex(Value row) const { return e.div(e.add(firstRow, row), group); }

  Emitter &e;
  const Value firstRow;
  const int64_t group;
};

// The two products of a tile of a head's rows and a block of keys. `from` is the first key of a panel.
class HeadProducts {
public:
  virtual ~HeadProducts() = default;

  // S[row, key] = queries[row, :] * K[:, key] for whole panels that cover the keys [from, to).
  virtual void computeScores(const HeadRows &rows, const QueryTile &tile, int64_t n, mlir::Value from,
                             mlir::Value to) = 0;
  // P[row, :] += S[row, from:to] * V[from:to, :]
  virtual void addValues(const QueryTile &tile, int64_t n, mlir::Value from, mlir::Value to,
                         const PartialEnds &ends) = 0;
  // Whether a token that is alone in its sequence is better computed by expandTokenHeads().
  virtual bool hasTokenStrategy() const = 0;
};

// Computes them by register tiles.
std::unique_ptr<HeadProducts> makeTileProducts(AttentionLoops &loops);

// Replaces the op, which is in `tasks`, by loops.
using MakeProducts = llvm::function_ref<std::unique_ptr<HeadProducts>(AttentionLoops &)>;
void expandAttention(Emitter &e, kernel::TasksOp tasks, kernel::AttentionOp op, MakeProducts products);

void expandHeadRows(AttentionLoops &loops, HeadProducts &products, const HeadRows &rows);

// One block of keys, up to the values' sum P: [firstKey, firstKey + count).
void expandHeadBlock(AttentionLoops &loops, HeadProducts &products, const HeadRows &rows, mlir::Value firstKey,
                     mlir::Value count);

// Key-value heads [head, + heads) of the only token of a sequence, whose keys all lie in one slot.
void expandTokenHeads(AttentionLoops &loops, kernel::SpanOp span, mlir::Value head, int64_t heads);

// One key-value head of the only token of a sequence: `rows` are the queries that share it.
void expandTokenGroup(AttentionLoops &loops, const HeadRows &rows);

// Leaves what block number `index` of a single row's keys yields by itself; see PartialAttentionLayout. `end`: of the
// keys that the row sees.
void expandSplitKvBlock(AttentionLoops &loops, HeadProducts &products, const HeadRows &rows, mlir::Value index,
                        mlir::Value end);

}  // namespace talc
