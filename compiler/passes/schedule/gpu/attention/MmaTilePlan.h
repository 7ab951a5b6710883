// SPDX-License-Identifier: Apache-2.0
// The plan of attention by MMA: how the warps of a workgroup share queries and features. Its tuning parameters are
// those of MmaAttentionTunables.
#pragma once

#include "compiler/passes/schedule/gpu/Tunables.h"

namespace talc {

struct MmaTilePlan {
  using Atom = MmaSyncM16N8K16;
  static constexpr int64_t maxWarps = 4;          // that the cost model chooses
  static constexpr int64_t maxWarpFeatures = 64;  // of O, whose accumulators fit into registers

  // The plan of an op in tasks, whose plan may be incomplete.
  explicit MmaTilePlan(kernel::AttentionOp op);
  // The plan of an op with the parameters of `given`, which may be null; the cost model chooses the others. `problem`
  // says what is wrong with a parameter, or is empty.
  MmaTilePlan(kernel::AttentionOp op, kernel::PlanAttr given, std::string &problem);

  int64_t warps() const { return tiles * parts; }
  int64_t tileQueries() const { return Atom::m / 2 * threadRows; }
  int64_t queries() const { return tiles * tileQueries(); }

  OccupancyTunables occupancy = {256};
  int64_t parts, partWidth;  // warps that share the features of V, and features of each
  int64_t tiles;             // of 16 rows
  int64_t threadRows;        // rows of a thread that have queries: g, or g and g + 8
};

}  // namespace talc
