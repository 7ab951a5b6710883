// SPDX-License-Identifier: Apache-2.0
// Tuning parameters of attention, and the cost model that chooses them.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"

namespace talc {

// twoPass: no query can see more than one key block, so that nothing is rescaled. online: blocks are merged one after
// the other. split: each block of a single token is a task, and kernel.combine merges the results. Equal attention ops
// of all entries get equal blocks, so that their results are equal.
enum class AttentionKind { twoPass, online, split };

// Maximal number of rows of queries of a task.
constexpr int64_t attentionRows = 48;

// Keys of a block on GPUs, whose workgroups are many and small: the results of a block stay in registers.
constexpr int64_t workgroupKeys = 64;

// Keys of a block: the one tuning parameter that changes results, because key blocks are summed one after the other.
inline constexpr llvm::StringLiteral blockKeysParameter = "block_keys";

struct AttentionPlan {
  AttentionKind kind;
  int64_t keys;   // of a block
  int64_t rows;   // of a task
  int64_t chunk;  // keys of a block that are computed for all rows of a task before the next ones
  int64_t fetch;  // 1: tiles of a single token prefetch later panels

  static llvm::ArrayRef<TuningParameter<AttentionPlan>> parameters();
};

// The plan of an op with `keys` keys per block (0: chosen by the cost model). It does not depend on the target, since
// it determines the order of sums.
AttentionPlan makeAttentionPlan(kernel::AttentionOp op, int64_t keys);

// The plan of an op with the parameters that `attribute` has; the cost model chooses the others. `problem` says what is
// wrong with a parameter, or is empty.
AttentionPlan makeAttentionPlan(kernel::AttentionOp op, kernel::PlanAttr attribute, std::string &problem);

// A description for remarks; the number of lanes only affects its figures.
std::string explain(kernel::AttentionOp op, const AttentionPlan &plan, int64_t lanes);

}  // namespace talc
