// SPDX-License-Identifier: Apache-2.0
// Which attention MMA can compute, and the cost model of its tiles.
#include "compiler/passes/schedule/gpu/attention/MmaTilePlan.h"

#include "compiler/passes/schedule/attention/AttentionPlan.h"
#include "compiler/passes/schedule/gpu/WorkgroupOps.h"
#include "compiler/passes/schedule/gpu/attention/AttentionTile.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace talc {

// The number of warps that share the features of V, each with complete instructions; 0: there is none.
static int64_t divideFeatures(int64_t width) {
  auto parts = static_cast<int64_t>(llvm::divideCeil(width, MmaTilePlan::maxWarpFeatures));
  for (; parts <= MmaTilePlan::maxWarps; ++parts)
    if (width % (parts * MmaTilePlan::Atom::n) == 0)
      return parts;
  return 0;
}

MmaTilePlan::MmaTilePlan(kernel::AttentionOp op) {
  std::string problem;  // expand-workgroups has reported it
  *this = MmaTilePlan(op, getPlan(op), problem);
}

MmaTilePlan::MmaTilePlan(kernel::AttentionOp op, kernel::PlanAttr given, std::string &problem) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  const bool hasOneToken = cast<ShapedType>(op.getQueries().getType()).getDimSize(0) == 1;
  parts = divideFeatures(layout.width);
  partWidth = layout.width / parts;
  tiles = maxWarps / parts;
  const int64_t group = op.getHeads() / layout.heads;
  if (hasOneToken)
    tiles = std::min(tiles, static_cast<int64_t>(llvm::divideCeil(group, Atom::m)));
  threadRows = hasOneToken && group <= Atom::m / 2 ? 1 : 2;
  MmaAttentionTunables tunables = {warps()};
  readTunables(given, tunables, problem);
  readTunables(given, occupancy, problem);
  if (problem.empty() && tunables.warps % parts != 0)
    problem = llvm::formatv("warps is {0}, expected a multiple of {1}, which share the features of a head",
                            tunables.warps, parts);
  tiles = std::max<int64_t>(tunables.warps / parts, 1);
}

std::string findMmaObstacle(kernel::AttentionOp op, const MmaAtom &mma) {
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  for (Type stored : {layout.keys, layout.values})
    if (!mma.accepts(stored))
      return "keys or values are " + std::string(getStorageFormat(stored)->name);
  if (layout.tokens != MmaTilePlan::Atom::k)
    return "panels do not have " + std::to_string(MmaTilePlan::Atom::k) + " tokens";
  if (layout.width % MmaTilePlan::Atom::k != 0 || divideFeatures(layout.width) == 0)
    return "heads are " + std::to_string(layout.width) + " wide, which is not divisible among MMAs of " +
           std::to_string(MmaTilePlan::Atom::k) + " features and up to " + std::to_string(MmaTilePlan::maxWarps) +
           " warps";
  return "";
}

int64_t mmaThreads(kernel::AttentionOp op, const GpuFacts &gpu) {
  return MmaTilePlan(op).warps() * gpu.mma->threads();
}

int64_t mmaResidentThreads(kernel::AttentionOp op) {
  return MmaTilePlan(op).occupancy.residentThreads;
}

kernel::PlanAttr planByMma(kernel::AttentionOp op, const GpuFacts &, kernel::PlanAttr given, std::string &problem) {
  const MmaTilePlan plan(op, given, problem);
  return writePlan(op.getContext(), OccupancyTunables::parameters(), plan.occupancy,
                   writePlan(op.getContext(), MmaAttentionTunables::parameters(), {plan.warps()}));
}

std::string describeMmaTile(kernel::AttentionOp op, const GpuFacts &gpu) {
  MmaTilePlan plan(op);
  kernel::KvLayout layout(cast<KvCacheType>(op.getCache().getType()));
  std::string formats(getStorageFormat(layout.keys)->name);
  if (layout.values != layout.keys)
    formats += " and " + std::string(getStorageFormat(layout.values)->name);
  std::string text = std::to_string(plan.queries()) + " queries of a key-value head a task, by MMA " +
                     gpu.mma->name().str() + " of " + formats + " in split precision; blocks of " +
                     std::to_string(workgroupKeys) + " keys in registers; a warp has " +
                     std::to_string(plan.tileQueries()) + " queries";
  return plan.parts == 1 ? text : text + " and " + std::to_string(plan.partWidth) + " features";
}

}  // namespace talc
