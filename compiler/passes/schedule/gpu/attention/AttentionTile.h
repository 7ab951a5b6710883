// SPDX-License-Identifier: Apache-2.0
// Some queries of a key-value head in a workgroup, which see blocks of keys together.
//
// What a query sees, and what becomes of the product of a query and a key, is the same for all tiles and stands here. A
// tile says which thread has which part of what (AttentionByThreads.cpp, AttentionByMatrices.cpp).
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

  // How many queries it has at most.
  virtual int64_t size() const = 0;

  // The queries [first, first + count) of a key-value head, in the sequence that `seen` has entered. Query m is that of
  // token m / group and of the head's query m % group.
  void enter(Value keyHead, Value first, Value count);
  // The keys that one of them sees, [first, end).
  Value firstKey();
  Value endKey();

  // Queries are read from here, until others are.
  virtual void load(Value queries) = 0;
  // What a thread has before the first block, and after one more.
  virtual Values nothing() = 0;
  virtual Values addBlock(Value firstKey, mlir::ValueRange before) = 0;
  // Results of the queries; what blocks have yielded, for kernel.combine (see PartialAttentionLayout).
  virtual void finish(mlir::ValueRange all) = 0;
  virtual void leave(mlir::ValueRange all, Value line) = 0;

  MaskRange seen;

protected:
  // A query by its number in the tile. Beyond the last it is the last again.
  struct Query {
    Value row, head, position, first, end;  // the keys that it sees are [first, end)
  };
  Query queryOf(Value number);
  Value isSeen(const Query &query, Value key);
  // What the softmax sees of the product of a query and a key, if that is seen; to be scaled by `steepness` on the way
  // to the weights, which are powers of two.
  Value scoreOf(const Query &query, Value key, Value isSeen, Value product);
  Value steepness();
  // 1 / sum of all that a query has met.
  Value inverse(Value number, SoftmaxState all);

  // Which slot has a key (see kernel.span), and where it lies there.
  Value slotOf(Value key);
  KvIndex placeOf(Value panel, Value token);

  WorkgroupEmitter &e;
  kernel::AttentionOp op;
  const kernel::KvLayout layout;
  const int64_t group;  // queries of a key-value head
  Value keyHead, firstQuery, count;

private:
  Value biasOf(const Query &query, Value key);
  Value rowBiasOf(const Query &query, Value key);
  void weighZeros();

  const double scale, cap;
  const bool scalesFirst;  // before the largest is found, and not on the way to the weights
  Value zeros;             // what the keys before the first weigh for each query: maxima, then sums
};

// Threads that each have some keys, then some features.
std::unique_ptr<AttentionTile> tileByThreads(WorkgroupEmitter &e, kernel::AttentionOp op);
int64_t threadsOfTile(kernel::AttentionOp op);
int64_t queriesOfTile(kernel::AttentionOp op);
// Subgroups that each have 16 queries, by matrix instructions (obstacleToMatrices).
std::unique_ptr<AttentionTile> tileByMatrices(WorkgroupEmitter &e, kernel::AttentionOp op);

}  // namespace talc
