// SPDX-License-Identifier: Apache-2.0
// The cost model that chooses how the loops of an attention are cut.
#pragma once

#include "compiler/passes/schedule/TuningParameters.h"

namespace talc {

// twoPass: no row can see more than one block of keys, so that nothing is rescaled; online: blocks are brought together
// as they come; split: each block of a single row is a task, and kernel.combine brings them together. Equal attentions
// of all phases get equal blocks, which is what makes their results equal.
enum class AttentionKind { twoPass, online, split };

// Rows of queries that one task takes at most.
constexpr int64_t attentionRows = 48;

// Keys of a block where workgroups take them, which are many and small: registers hold what they find.
constexpr int64_t workgroupKeys = 64;

struct AttentionPlan {
  AttentionKind kind;
  int64_t keys;   // of a block
  int64_t rows;   // of a task
  int64_t chunk;  // keys of a block that all rows of a task take before the next ones
  int64_t fetch;  // 1: the tiles of a single row fetch panels that come later

  static llvm::ArrayRef<TuningParameter<AttentionPlan>> parameters();
};

// Follows from the op and `keys` (of a block; 0: the cost model chooses), and not from the target, since it decides the
// order in which a row is summed up.
AttentionPlan makeAttentionPlan(kernel::AttentionOp op, int64_t keys);

// What a plan says of `op`, whose numbers may be some; the cost model chooses the others. `problem`: what is wrong with
// one, or nothing.
AttentionPlan makeAttentionPlan(kernel::AttentionOp op, kernel::PlanAttr plan, std::string &problem);

// For people; the lanes are for its figures only.
std::string explain(kernel::AttentionOp op, const AttentionPlan &schedule, int64_t lanes);

}  // namespace talc
