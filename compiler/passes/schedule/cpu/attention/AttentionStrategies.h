// SPDX-License-Identifier: Apache-2.0
// How the task of an attention is computed: by rows of one head, by heads of one token, by the queries of a token that
// share a head, or as one block of a single row's keys.
#pragma once

#include "compiler/passes/schedule/cpu/attention/AttentionLoops.h"

namespace talc {

// The rows [firstRow, + count) of a key-value head: row m is query m % group of token m / group of the sequence.
class RowsOfHead : public TaskRows {
public:
  RowsOfHead(Emitter &e, kernel::SpanOp span, Value head, Value firstRow, Value count, int64_t group)
      : TaskRows(span, count), head(head), e(e), firstRow(firstRow), group(group) {}

  Value token(Value row) const override { return e.add(firstToken, tokenOf(row)); }
  Value position(Value row) const override { return e.add(firstPosition, tokenOf(row)); }
  Value queryHead(Value row) const override { return e.add(e.mul(head, group), e.rem(e.add(firstRow, row), group)); }

  const Value head;

private:
  // Counted from the sequence's first in the step.
  Value tokenOf(Value row) const { return e.div(e.add(firstRow, row), group); }

  Emitter &e;
  const Value firstRow;
  const int64_t group;
};

// The two products of a tile of a head's rows and a block of keys. `from` begins a panel.
class HeadProducts {
public:
  virtual ~HeadProducts() = default;

  // S[row, key] = queries[row, :] * K[:, key] for whole panels that cover the keys [from, to).
  virtual void computeScores(const RowsOfHead &rows, const TileRows &tile, int64_t n, mlir::Value from,
                             mlir::Value to) = 0;
  // P[row, :] += S[row, from:to] * V[from:to, :]
  virtual void addValues(const TileRows &tile, int64_t n, mlir::Value from, mlir::Value to, const PartEnds &ends) = 0;
  // Whether heads of a token that is alone in its sequence are better taken by expandHeadsOfToken().
  virtual bool leavesTokens() const = 0;
};

// By register tiles.
std::unique_ptr<HeadProducts> tilesOfHead(AttentionLoops &loops);

// Replaces the piece, which stands in `tasks`, by loops.
using MakeProducts = llvm::function_ref<std::unique_ptr<HeadProducts>(AttentionLoops &)>;
void expandAttention(Emitter &e, kernel::TasksOp tasks, kernel::AttentionOp op, MakeProducts products);

void expandRowsOfHead(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows);

// One block of keys, up to the values' sum P: [firstKey, firstKey + count).
void expandBlockOfHead(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows, mlir::Value firstKey,
                       mlir::Value count);

// Key-value heads [head, + heads) of the only token of a sequence, whose keys all lie in one slot.
void expandHeadsOfToken(AttentionLoops &loops, kernel::SpanOp span, mlir::Value head, int64_t heads);

// One key-value head of the only token of a sequence: `rows` are the queries that share it.
void expandGroupOfToken(AttentionLoops &loops, const RowsOfHead &rows);

// Leaves what block number `index` of a single row's keys yields by itself; see PartialAttentionLayout. `end`: of the
// keys that the row sees.
void expandBlockOfRow(AttentionLoops &loops, HeadProducts &products, const RowsOfHead &rows, mlir::Value index,
                      mlir::Value end);

}  // namespace talc
