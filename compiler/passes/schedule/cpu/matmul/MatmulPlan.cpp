// SPDX-License-Identifier: Apache-2.0
// Tuning parameters of a matmul, and the sizes of tiles and groups that follow from them.
#include "compiler/passes/schedule/cpu/matmul/MatmulPlan.h"

using namespace mlir;

namespace talc {

// Sums on the stack; a worker's stack has 2 MiB.
constexpr int64_t maxStackSumBytes = 192 << 10;

// Sums of a tile per vector register. More only spill, and take long to compile.
constexpr int64_t maxSpill = 4;

ArrayRef<TuningParameter<MatmulTunables>> MatmulTunables::parameters() {
  constexpr int64_t maxSize = 1 << 24;
  using T = MatmulTunables;
  static constexpr TuningParameter<T> all[] = {{"block_depth", &T::blockK, 1, maxSize},
                                               {"block_panels", &T::blockPanels, 1, maxSize},
                                               {"block_rows", &T::blockRows, 1, 1 << 12},
                                               {"fetch_ahead", &T::prefetchAhead, 0, 1 << 12},
                                               {"fetch_first", &T::prefetchFirst, 0, 1 << 12},
                                               {"fetch_level", &T::prefetchLevel, 1, 2},
                                               {"fetch_next", &T::prefetchNext, 0, 32},
                                               {"fetch_rows", &T::prefetchRows, 1, 16},
                                               {"layout_rows", &T::dequantizeRows, 0, maxSize},
                                               {"row_columns", &T::rowColumns, 4, 1 << 10},
                                               {"stream_depth", &T::streamK, 1, maxSize},
                                               {"stream_rows", &T::streamRows, 0, 64},
                                               {"tall_rows", &T::tallRows, 0, 16},
                                               {"task_panels", &T::taskPanels, 1, maxSize},
                                               {"tile_columns", &T::tileColumns, 4, 1 << 10},
                                               {"tile_rows", &T::tileRows, 1, 16},
                                               {"tile_steps", &T::unroll, 1, 32}};
  return all;
}

MatmulPlan::MatmulPlan(const MatmulShape &shape, const IsaTraits &traits)
    : shape(shape), traits(traits), microkernel(Microkernel::select(shape.x, shape.weight, traits)),
      kUnit(microkernel->kUnit(elementFormat(shape.x))) {}

MatmulPlan::MatmulPlan(const MatmulShape &shape, const IsaTraits &traits, kernel::PlanAttr attribute)
    : MatmulPlan(shape, traits) {
  readPlan(attribute, MatmulTunables::parameters(), tunables);
}

bool MatmulPlan::hasHalfTiles() const {
  return groupPanels(tunables.tileRows) == 1 && sliceLanes(tunables.tileRows) % (2 * traits.lanes) == 0;
}

int64_t MatmulPlan::dequantizedTileRows() const {
  return tunables.tileColumns == traits.lanes ? std::max<int64_t>(tunables.tileRows / 2, 1) : tunables.tileRows;
}

// The codes of a block of k stay in L1.
int64_t MatmulPlan::dequantizedK() const {
  constexpr int64_t codeBytes = 16 << 10, maxK = 512, minK = 128;
  if (!microkernel->canDequantizePanels())
    return 0;
  int64_t lanes = groupLanes(dequantizedTileRows());
  for (int64_t size = std::min(codeBytes / lanes, maxK) / kUnit * kUnit; size >= minK; size -= kUnit)
    if (shape.k % size == 0)
      return size;
  return 0;
}

bool MatmulPlan::sumsFitOnStack() const {
  return tunables.blockRows * groupLanes(tunables.tileRows) * 4 <= maxStackSumBytes;
}

std::string MatmulPlan::findContradiction() const {
  const MatmulTunables &t = tunables;
  if (t.tileColumns % traits.lanes != 0 || t.rowColumns % traits.lanes != 0)
    return "tile_columns and row_columns must be multiples of " + std::to_string(traits.lanes) +
           ", the lanes of a vector";
  if (microkernel->hasFixedUnroll() && t.unroll != microkernel->unroll())
    return "tile_steps must be " + std::to_string(microkernel->unroll()) + ", which the microkernel takes at a time";
  auto splitsUnit = [&](int64_t size) { return size < shape.k && size % kUnit != 0; };
  if (splitsUnit(t.blockK) || (t.streamRows > 0 && splitsUnit(t.streamK)))
    return "block_depth and stream_depth must be multiples of " + std::to_string(kUnit) +
           ", which the microkernel takes at a time";
  if (t.tallRows > t.tileRows && !hasHalfTiles())
    return "tall_rows needs panels as wide as a tile, of two or more vectors";
  if (shape.k % t.blockK != 0)
    return "block_depth does not divide " + std::to_string(shape.k);
  if (t.streamRows > 0 && shape.k % t.streamK != 0)
    return "stream_depth does not divide " + std::to_string(shape.k);
  if (t.dequantizeRows > 0 && dequantizedK() == 0)
    return "layout_rows must be 0: panels with K = " + std::to_string(shape.k) + " cannot be dequantized ahead";
  for (int64_t rows = 1, limit = maxSpill * traits.registers; rows <= std::max(t.tileRows, t.tallRows); ++rows)
    if (accumulators(rows) > limit)
      return "a tile of " + std::to_string(rows) + " rows would have " + std::to_string(accumulators(rows)) +
             " vectors of sums, expected at most " + std::to_string(limit);
  int64_t group = groupPanels(t.tileRows);
  if (t.blockK < shape.k && !sumsWaitInResult() && t.blockPanels > group)
    return "block_panels must be at most " + std::to_string(group) +
           ", a group, because sums wait on the stack while k goes on";
  if ((!sumsWaitInResult() || t.dequantizeRows > 0) && !sumsFitOnStack())
    return "block_rows needs more than " + std::to_string(maxStackSumBytes) + " bytes of the stack";
  if (t.streamRows * groupLanes(t.tileRows) * 4 > maxStackSumBytes)
    return "stream_rows needs more than " + std::to_string(maxStackSumBytes) + " bytes of the stack";
  return "";
}

// Few rows need more columns, so that there are enough independent accumulators.
int64_t MatmulPlan::preferredColumns(int64_t rows) const {
  if (rows == 1)
    return tunables.rowColumns;
  if (rows > tunables.tileRows)
    return microkernel->tallTileColumns(tunables.tileColumns);
  bool isShortTile = rows < tunables.tileRows && rows <= microkernel->tileRows();
  return isShortTile ? std::max(microkernel->tileColumns(rows), tunables.tileColumns) : tunables.tileColumns;
}

int64_t MatmulPlan::columns(int64_t rows) const {
  return std::max(preferredColumns(rows) / traits.lanes, int64_t(1)) * traits.lanes;
}

int64_t MatmulPlan::widestGroupLanes(int64_t maxRows) const {
  int64_t lanes = 0;
  for (int64_t rows = 1; rows <= maxRows; ++rows)
    lanes = std::max(lanes, groupLanes(rows));
  return lanes;
}

int64_t MatmulPlan::maxFewRows() const {
  bool prefetchesOwnStream = tunables.prefetchAhead > 0 && tunables.prefetchRows > 1;
  int64_t rows = prefetchesOwnStream ? std::min(tunables.prefetchRows, tunables.tileRows) : 0;
  while (tileLanes(rows + 1) > tileLanes(tunables.tileRows))
    ++rows;
  while (rows > 1 && sliceLanes(rows) < shape.panelLanes)
    --rows;
  return rows;
}

int64_t MatmulPlan::groupPanels(int64_t rows) const {
  constexpr int64_t maxStreams = 8;  // reading more at once is no faster
  if (shape.groups > 1)              // each of the model's groups multiplies features of its own
    return 1;
  return std::clamp<int64_t>(columns(rows) / shape.panelLanes, 1, std::min(shape.panels, maxStreams));
}

int64_t MatmulPlan::sliceLanes(int64_t rows) const {
  int64_t lanes = std::min(columns(rows), shape.panelLanes);
  while (shape.panelLanes % lanes != 0)
    lanes -= traits.lanes;
  return lanes;
}

}  // namespace talc
