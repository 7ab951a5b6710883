// SPDX-License-Identifier: Apache-2.0
// Blocks are chosen so that what passes again and again stays in L2.
#include "compiler/passes/schedule/cpu/ContractPlan.h"

using namespace mlir;

namespace talc {

// The largest even divisor of a large depth that makes a block of k, or all of it.
static int64_t dividing(int64_t depth) {
  constexpr int64_t undivided = 768, least = 256, most = 512;
  for (int64_t size = most; depth > undivided && size >= least; size -= 2)
    if (depth % size == 0)
      return size;
  return depth;
}

ContractPlan::ContractPlan(kernel::ContractOp op, int64_t lanes, int64_t cacheBytes) : lanes(lanes) {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  panels = weight.getDimSize(0);
  depth = weight.getDimSize(1);
  panelLanes = weight.getDimSize(2);
  panelColumns = op.getGated() ? panelLanes / 2 : panelLanes;
  width = cast<MemRefType>(op.getInit().getType()).getDimSize(1);
  const StorageFormat &format = elementFormat(weight);
  lineElements = 64 * format.blockValues / format.blockBytes;
  isLarge = storedBytes(weight) >= cacheBytes / 4;
  depthBlock = dividing(depth);
  // Neither of gates nor with a last panel that is not full.
  sumsInResult = depthBlock < depth && width == panels * panelLanes;
  // Half of the cache: what passes through it, and what else runs on the core, takes its part.
  int64_t groupBytes = format.bytesOf(depthBlock * panelLanes * groupPanels(tileRows));
  chooseBlocks(cacheBytes / 2 - 2 * groupBytes);
}

// Rows with all of k beside one group, or rows with a block of k beside their sums for many groups.
void ContractPlan::chooseBlocks(int64_t room) {
  constexpr int64_t mostRows = 192;  // sums on the stack are those of one group
  rowBlock = sumsInResult ? mostRows : std::clamp<int64_t>(room / (depth * 4), 8 * tileRows, mostRows);
  int64_t group = groupPanels(tileRows), groups = (room / (rowBlock * 4) - depthBlock) / (panelLanes * group);
  panelBlock = depthBlock == depth ? panels : sumsInResult && groups > 1 ? groups * group : group;
}

int64_t ContractPlan::groupPanels(int64_t rows) const {
  constexpr int64_t mostStreams = 8;  // more read no faster
  return std::clamp<int64_t>(tileColumns(rows, lanes) / panelLanes, 1, std::min(panels, mostStreams));
}

int64_t ContractPlan::pieceLanes(int64_t rows) const {
  int64_t piece = std::min(tileColumns(rows, lanes), panelLanes);
  while (panelLanes % piece != 0)
    piece -= lanes;
  return piece;
}

}  // namespace talc
