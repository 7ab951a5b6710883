// SPDX-License-Identifier: Apache-2.0
// The cost model chooses blocks so that what is read again and again stays in L2.
#include "compiler/passes/schedule/cpu/matmul/MatmulCostModel.h"

#include "compiler/passes/schedule/cpu/matmul/RegisterTile.h"

using namespace mlir;

namespace talc {

namespace {

class MatmulCostModel {
public:
  MatmulCostModel(MatmulPlan &plan, const CpuCosts &costs)
      : plan(plan), shape(plan.shape), microkernel(*plan.microkernel), t(plan.tunables), costs(costs),
        xFormat(elementFormat(shape.x)), isLarge(storedBytes(shape.weight) >= costs.l2Bytes / 4) {}

  void choose() {
    chooseTiles();
    choosePrefetches();
    chooseDequantizedPanels();
    if (costs.dropsPrefetches && isLarge)
      chooseStreams();
    int64_t groupLanes = plan.groupLanes(t.tileRows);
    choosePrefetchNext(groupLanes);
    t.taskPanels = plan.groupPanels(t.tileRows);
    t.blockK = microkernel.blockK(shape.k, plan.kUnit, groupLanes, costs.l2Bytes);
    // Half of the cache: what passes through it, and what else runs on the core, takes its part.
    int64_t groupBytes = shape.weightFormat->byteSize(t.blockK * groupLanes);
    chooseBlocks(costs.l2Bytes / 2 - 2 * groupBytes);
  }

private:
  void chooseTiles() {
    t.tileRows = microkernel.tileRows();
    t.tileColumns = microkernel.tileColumns(t.tileRows);
    // Slices of a panel that was packed for wider vectors would be streams with gaps, so one row takes whole panels.
    t.rowColumns = std::max(microkernel.rowColumns(), shape.panelLanes);
    t.unroll = microkernel.unroll();
    // Rows at such a distance lie in the same set of L1, which would have to hold a line of each.
    constexpr int64_t maxRowsOfSet = 4;
    bool collide = xFormat.byteSize(shape.groups * shape.groupFeatures) % 4096 == 0;
    int64_t tallRows = microkernel.tallTileRows();
    t.tallRows = plan.hasHalfTiles() && (!collide || tallRows <= maxRowsOfSet) ? tallRows : 0;
  }

  // A smaller weight stays in L2 beside others of its kind.
  void choosePrefetches() {
    int64_t lines = llvm::divideCeil(shape.weightFormat->byteSize(t.unroll * shape.panelLanes), cacheLineBytes);
    bool bySoftware = isLarge && !(costs.prefetchesStreams && microkernel.isHardwarePrefetched());
    t.prefetchAhead = bySoftware ? microkernel.prefetchDistance(plan.groupPanels(1) * lines) : 0;
    t.prefetchRows = microkernel.prefetchRows();
    while (t.prefetchRows > 1 && plan.sliceLanes(t.prefetchRows) < shape.panelLanes)
      --t.prefetchRows;
    t.prefetchFirst = 0;
    t.prefetchLevel = 2;
  }

  void chooseDequantizedPanels() {
    t.streamRows = 0;
    t.streamK = shape.k;
    t.dequantizeRows = plan.dequantizedK() > 0 ? microkernel.minRowsToDequantize() : 0;
    // Rows that pass dequantized panels are not a tall tile.
    if (t.dequantizeRows > 0 && t.dequantizeRows <= t.tallRows)
      t.tallRows = 0;
  }

  // Where prefetches never wait, software brings lines into L1 as early as it likes. A tile that is alone prefetches
  // its own stream. Of several tiles the first one waits for memory, and the others do not: blocks of k that fit into
  // L1 twice let all of them share the wait. That pays as long as a weight of f32 takes longer to read than half of its
  // multiply-adds. A tall tile would skip half of each row of a panel, and come back for it.
  void chooseStreams() {
    constexpr int64_t distance = 128, blockBytes = 16 << 10;
    t.prefetchLevel = 1;
    t.prefetchAhead = distance;
    t.prefetchRows = t.tileRows;
    if (shape.weightFormat->blockBytes != 4 * shape.weightFormat->blockValues)
      return;
    int64_t maxK = blockBytes / (plan.groupLanes(t.tileRows) * 4), size = maxK;
    while (size > maxK / 2 && shape.k % size != 0)
      --size;
    if (shape.k % size != 0)
      return;
    t.streamRows = 4 * t.tileRows;
    t.streamK = size;
    t.tallRows = 0;
  }

  // Two tiles, or the slices of a tile that is alone, each prefetch a part of the next group.
  void choosePrefetchNext(int64_t groupLanes) {
    constexpr int64_t maxLines = 32;
    int64_t parts = std::max<int64_t>(plan.slicesPerPanel(plan.maxFewRows() + 1), 2);
    t.prefetchNext =
        std::clamp<int64_t>(llvm::divideCeil(groupLanes * t.unroll, parts * shape.lineElements), 2, maxLines);
  }

  // Rows with all of k beside one group, or rows with a block of k beside their sums for many groups.
  void chooseBlocks(int64_t cacheBytes) {
    constexpr int64_t maxRows = 192;  // sums on the stack are those of one group
    bool usesMaxRows = plan.sumsWaitInResult() || !microkernel.keepsRowsInL2();
    t.blockRows = usesMaxRows
                      ? maxRows
                      : std::clamp<int64_t>(cacheBytes / xFormat.byteSize(shape.k), 8 * registerTileRows, maxRows);
    int64_t group = plan.groupPanels(t.tileRows),
            groups = (cacheBytes / (t.blockRows * 4) - xFormat.byteSize(t.blockK) / 4) / (shape.panelLanes * group);
    t.blockPanels = t.blockK == shape.k ? shape.panels : plan.sumsWaitInResult() && groups > 1 ? groups * group : group;
  }

  MatmulPlan &plan;
  const MatmulShape &shape;
  const Microkernel &microkernel;
  MatmulTunables &t;
  const CpuCosts &costs;
  const StorageFormat &xFormat;
  const bool isLarge;
};

}  // namespace

MatmulPlan chooseMatmulPlan(const MatmulShape &shape, const CpuCosts &costs) {
  MatmulPlan plan(shape, costs.traits);
  MatmulCostModel(plan, costs).choose();
  return plan;
}

void fitDequantizedPanels(MatmulPlan &plan) {
  if (!plan.sumsFitOnStack())
    plan.tunables.dequantizeRows = 0;
}

}  // namespace talc
