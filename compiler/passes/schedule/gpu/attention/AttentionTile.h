// SPDX-License-Identifier: Apache-2.0
// A tile of queries of one key-value head, which a workgroup computes over blocks of keys.
//
// Masks, biases and scores are the same for all tiles and are here. The subclasses distribute the work over threads:
// FlashAttentionFma.cpp and FlashAttentionMma.cpp.
#pragma once

#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/attention/MaskRange.h"
#include "compiler/passes/schedule/attention/OnlineSoftmax.h"
#include "compiler/passes/schedule/gpu/attention/KvAccess.h"

namespace talc {

class AttentionTile {
public:
  using Value = mlir::Value;
  using Values = Emitter::Values;

  static constexpr int64_t keys = workgroupKeys;  // of a block

  AttentionTile(WorkgroupEmitter &e, kernel::AttentionOp op);
  virtual ~AttentionTile() = default;

  virtual int64_t maxQueries() const = 0;

  // Begins with the queries [first, first + count) of a key-value head, in the sequence that `mask` has entered. Query
  // m is that of token m / group and of the head's query m % group.
  void begin(Value keyHead, Value first, Value count);
  // The keys that any of the queries sees: [firstKey(), endKey()).
  Value firstKey();
  Value endKey();

  // Loads the queries for the blocks that follow.
  virtual void loadQueries(Value queries) = 0;
  // The values that a thread carries from block to block: before the first one, and after one more.
  virtual Values initialState() = 0;
  virtual Values addBlock(Value firstKey, mlir::ValueRange state) = 0;
  // Stores the output of all queries, or the partial attention of the blocks so far in a row of the buffer that
  // kernel.combine reads (PartialAttentionLayout).
  virtual void storeOutput(mlir::ValueRange state) = 0;
  virtual void storePartial(mlir::ValueRange state, Value bufferRow) = 0;

  MaskRange mask;

protected:
  struct Query {
    Value row, head, position, first, end;  // it sees the keys [first, end)
  };
  // A query of the tile; an index beyond the last one yields the last one.
  Query getQuery(Value index);
  Value isVisible(const Query &query, Value key);
  // The score of a query and a key, from their product. It is still to be multiplied by log2Scale(), since softmax
  // weights are computed as powers of two.
  Value computeScore(const Query &query, Value key, Value isVisible, Value product);
  Value log2Scale();
  // 1 / sum of a query's weights.
  Value inverse(Value queryIndex, SoftmaxState state);

  // The slot of a key (see kernel.span), and its index there.
  Value findSlot(Value key);
  KvIndex kvIndex(Value panel, Value token);

  WorkgroupEmitter &e;
  kernel::AttentionOp op;
  const kernel::KvLayout layout;
  const int64_t group;  // queries of a key-value head
  Value keyHead, firstQuery, count;

private:
  Value loadBias(const Query &query, Value key);
  Value loadRowBias(const Query &query, Value key);
  void addZeroKeys();

  const double scale, cap;
  const bool scalesEarly;  // scores are scaled before the maximum, not by log2Scale()
  Value zeroKeyStates;     // softmax states of the zero keys before the first: maxima, then sums, of each query
};

std::unique_ptr<AttentionTile> makeFmaTile(WorkgroupEmitter &e, kernel::AttentionOp op);
int64_t fmaTileThreads(kernel::AttentionOp op);
int64_t fmaTileQueries(kernel::AttentionOp op);
int64_t fmaResidentThreads(kernel::AttentionOp op);
std::unique_ptr<AttentionTile> makeMmaTile(WorkgroupEmitter &e, kernel::AttentionOp op);
int64_t mmaResidentThreads(kernel::AttentionOp op);

}  // namespace talc
