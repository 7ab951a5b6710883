// SPDX-License-Identifier: Apache-2.0
// Lists the changes that are tried. The compiler refuses those that do not fit a kernel (a depth that a block does not
// divide), and the kernel keeps the cost model's plan in that round.
#include "tools/talc/tune/Candidates.h"

#include <algorithm>

namespace talc::tools {

// Plans of a matmul of many tokens.
static const std::vector<TuningParameters> forRows = {
    {{"fetch_next", 8}},
    {{"fetch_next", 8}, {"fetch_first", 64}},
    {{"fetch_level", 1}, {"fetch_ahead", 128}, {"fetch_rows", 6}},
    {{"fetch_level", 1}, {"fetch_ahead", 128}, {"fetch_rows", 6}, {"stream_rows", 24}, {"stream_depth", 64}},
    {{"tile_rows", 8}, {"tile_columns", 32}, {"fetch_next", 8}},
    {{"tile_rows", 12}, {"tile_columns", 32}, {"fetch_next", 8}},
    {{"fetch_next", 4}, {"block_rows", 96}},
    {{"fetch_next", 8}, {"tile_steps", 4}},
    {{"fetch_next", 8}, {"tile_steps", 1}},
    {{"claimed_rows", 48}},
    {{"claimed_rows", 96}},
    {{"by_panels", 1}},
    {{"share_tasks", 4}},
    {{"task_panels", 2}},
    {{"task_panels", 4}},
    {{"block_rows", 48}},
    {{"tile_rows", 5}, {"fetch_next", 8}},
    {{"tile_rows", 4}, {"fetch_next", 8}},
    {{"fetch_next", 0}},
    {{"by_halide", 1}},
    {{"by_halide", 1}, {"tile_rows", 4}},
    {{"by_halide", 1}, {"tile_rows", 8}, {"tile_columns", 32}},
};

// Plans of a matmul of one token.
static const std::vector<TuningParameters> forOneRow = {
    {{"fetch_ahead", 128}},
    {{"fetch_ahead", 128}, {"fetch_level", 1}},
    {{"fetch_ahead", 32}},
    {{"row_columns", 128}},
    {{"row_columns", 64}},
    {{"row_columns", 512}},
    {{"tile_steps", 4}},
    {{"tile_steps", 1}},
    {{"row_columns", 128}, {"fetch_ahead", 128}},
    {{"fetch_ahead", 0}},
    {{"by_halide", 1}},
};

static const std::vector<TuningParameters> forAttention = {
    {{"task_rows", 24}},   {{"task_rows", 96}},   {{"chunk_keys", 32}},
    {{"chunk_keys", 128}}, {{"chunk_keys", 256}}, {{"by_halide", 1}},
};

// Plans of row-wise ops.
static const std::vector<TuningParameters> forRowWiseOps = {
    {{"unroll", 2}},    {{"unroll", 4}},
    {{"by_halide", 1}}, {{"by_halide", 1}, {"unroll", 2}},
    {{"unroll", 8}},    {{"by_halide", 1}, {"unroll", 4}},
};

//===--- GPUs ---------------------------------------------------------------------------------------------------===//

// Matmuls by MMA, for any number of rows and for one.
static const std::vector<TuningParameters> forMma = {
    {{"task_rows", 64}, {"task_panels", 1}},
    {{"task_panels", 1}},
    {{"task_rows", 16}},
    {{"task_rows", 64}},
    {{"stages", 3}},
    {{"stages", 6}},
    {{"stages", 4}, {"stage_weights", 1}},
    {{"stage_weights", 1}},
    {{"unroll_steps", 1}},
    {{"unroll_steps", 4}},
    {{"task_rows", 96}},
    {{"task_rows", 48}},
    {{"stages", 8}},
    {{"task_panels", 4}},
    {{"resident_threads", 384}},
    {{"resident_threads", 512}},
    {{"task_panels", 2}},
};
static const std::vector<TuningParameters> forMmaRow = {
    {{"stage_weights", 0}, {"stages", 0}},
    {{"stage_weights", 1}, {"stages", 4}, {"task_panels", 1}},
    {{"stage_weights", 1}, {"stages", 8}, {"task_panels", 1}},
    {{"stage_weights", 1}, {"stages", 12}, {"task_panels", 1}},
    {{"stage_weights", 1}, {"stages", 6}, {"task_panels", 2}},
    {{"stage_weights", 0}, {"stages", 0}, {"task_panels", 2}},
    {{"stage_weights", 0}, {"stages", 0}, {"unroll_steps", 2}},
    {{"resident_threads", 512}},
};
// Matmuls by fused multiply-adds.
static const std::vector<TuningParameters> forFma = {
    {{"task_threads", 64}},      {{"task_threads", 128}},     {{"task_threads", 256}}, {{"thread_columns", 2}},
    {{"thread_columns", 1}},     {{"task_rows", 4}},          {{"task_rows", 16}},     {{"resident_threads", 256}},
    {{"resident_threads", 512}}, {{"resident_threads", 768}}, {{"task_rows", 12}},     {{"task_rows", 2}},
};
static const std::vector<TuningParameters> forMmaAttention = {
    {{"warps", 2}}, {{"warps", 1}}, {{"warps", 8}}, {{"resident_threads", 384}}, {{"resident_threads", 512}},
};
static const std::vector<TuningParameters> forFmaAttention = {
    {{"task_queries", 8}},       {{"task_queries", 4}},       {{"task_queries", 16}},
    {{"resident_threads", 256}}, {{"resident_threads", 512}}, {{"resident_threads", 768}},
};

//===------------------------------------------------------------------------------------------------------------===//

// The lists of kinds of ops, each with a parameter that only this kind has. The first that fits is taken.
struct CandidateList {
  const char *parameter;
  const std::vector<TuningParameters> &forRows, &forOneRow;
};
static const CandidateList candidateLists[] = {
    {"unroll", forRowWiseOps, forRowWiseOps},    {"chunk_keys", forAttention, forAttention},
    {"stage_weights", forMma, forMmaRow},        {"thread_columns", forFma, forFma},
    {"warps", forMmaAttention, forMmaAttention}, {"task_queries", forFmaAttention, forFmaAttention},
    {"tile_rows", forRows, forOneRow},
};

// Whether the cost model expects a tile to be slow: it has more accumulators than registers, too few to keep the
// multiply-adds busy, or loads that take more time than its multiply-adds.
static bool isSlow(const TuningParameters &plan, const TuningParameters &costModel) {
  auto number = [](const TuningParameters &plan, const char *name) { return plan.count(name) > 0 ? plan.at(name) : 0; };
  int64_t rows = number(plan, "tile_rows"), columns = number(plan, "tile_columns");
  if (columns == 0)
    return false;
  // Vectors are wide if the accumulators of the cost model's own tile would not fit into 16 registers of eight lanes.
  bool wide = number(costModel, "tile_rows") * number(costModel, "tile_columns") > 16 * 8;
  int64_t lanes = wide ? 16 : 8, registers = wide ? 32 : 16, vectors = columns / lanes;
  int64_t sums = rows * vectors, loads = rows + vectors;
  return sums > registers - std::min(rows, vectors) - 1 || sums < 8 || loads > 2 * sums;
}

std::vector<TuningParameters> planCandidates(const TunableKernel &kernel, bool halide) {
  auto list = std::find_if(std::begin(candidateLists), std::end(candidateLists), [&](const CandidateList &candidates) {
    return kernel.plan.count(candidates.parameter) > 0;
  });
  if (list == std::end(candidateLists))
    return {};
  const std::vector<TuningParameters> &all = kernel.oneRow ? list->forOneRow : list->forRows;
  std::vector<TuningParameters> candidates;
  for (const TuningParameters &changes : all) {
    TuningParameters plan = kernel.plan;
    bool isAvailable = true, differs = false;
    for (const auto &[name, value] : changes) {
      isAvailable &= plan.count(name) > 0 && (halide || name != "by_halide");
      differs |= plan[name] != value;
      plan[name] = value;
    }
    if (isAvailable && differs && !(kernel.oneRow ? false : isSlow(plan, kernel.plan)))
      candidates.push_back(changes);
  }
  return candidates;
}

}  // namespace talc::tools
