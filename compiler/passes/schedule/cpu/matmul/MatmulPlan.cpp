// SPDX-License-Identifier: Apache-2.0
// The cost model chooses blocks so that what passes again and again stays in L2.
#include "compiler/passes/schedule/cpu/matmul/MatmulPlan.h"

using namespace mlir;

namespace talc {

// Bytes of the stack that sums may take; a worker's has 2 MiB.
constexpr int64_t mostSumBytes = 192 << 10;
// Lines that a tile of many rows fetches in an iteration.
constexpr int64_t mostFetches = 32;

ArrayRef<TuningParameter<MatmulPlan>> MatmulPlan::parameters() {
  constexpr int64_t many = 1 << 24;
  using Plan = MatmulPlan;
  static constexpr TuningParameter<Plan> all[] = {{"block_depth", &Plan::blockDepth, 1, many},
                                                  {"block_panels", &Plan::blockPanels, 1, many},
                                                  {"block_rows", &Plan::blockRows, 1, 1 << 12},
                                                  {"fetch_ahead", &Plan::fetchAhead, 0, 1 << 12},
                                                  {"fetch_first", &Plan::fetchFirst, 0, 1 << 12},
                                                  {"fetch_level", &Plan::fetchLevel, 1, 2},
                                                  {"fetch_next", &Plan::fetchNext, 0, mostFetches},
                                                  {"fetch_rows", &Plan::fetchRows, 1, 16},
                                                  {"layout_rows", &Plan::layoutRows, 0, many},
                                                  {"row_columns", &Plan::rowColumns, 4, 1 << 10},
                                                  {"stream_depth", &Plan::streamDepth, 1, many},
                                                  {"stream_rows", &Plan::streamRows, 0, 64},
                                                  {"tall_rows", &Plan::tallRows, 0, 16},
                                                  {"task_panels", &Plan::taskPanels, 1, many},
                                                  {"tile_columns", &Plan::tileColumns, 4, 1 << 10},
                                                  {"tile_rows", &Plan::tileRows, 1, 16},
                                                  {"tile_steps", &Plan::tileSteps, 1, 32}};
  return all;
}

MatmulShape MatmulShape::of(kernel::MatmulOp op) {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  int64_t width = cast<MemRefType>(op.getInit().getType()).getDimSize(1), groups = op.getGroups();
  return {cast<MemRefType>(op.getX().getType()),
          weight,
          weight.getDimSize(0),
          width,
          groups,
          op.getGated(),
          /*hasPlace=*/true};
}

// What they make is added up.
MatmulShape MatmulShape::of(kernel::ExpertsOp op) {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  int64_t experts = cast<MemRefType>(op.getRoutes().getType()).getDimSize(1);
  int64_t width = cast<MemRefType>(op.getInit().getType()).getDimSize(1) / (op.getGated() ? op.getSlots() : 1);
  return {cast<MemRefType>(op.getX().getType()),
          weight,
          weight.getDimSize(0) / experts,
          width,
          /*groups=*/1,
          op.getGated(),
          /*hasPlace=*/false};
}

MatmulPlan::MatmulPlan(const MatmulShape &shape, int64_t lanes)
    : products(selectMicrokernel(shape.x, shape.weight, lanes)), lanes(lanes) {
  panels = shape.panels;
  depth = shape.weight.getDimSize(1);
  panelLanes = shape.weight.getDimSize(2);
  panelColumns = shape.gated ? panelLanes / 2 : panelLanes;
  width = shape.width;
  groups = shape.groups;
  groupFeatures = shape.x.getDimSize(1) / groups;
  hasPlace = shape.hasPlace;
  const StorageFormat &format = elementFormat(shape.weight);
  weightFormat = &format;
  depthUnit = products.depthUnit(format, elementFormat(shape.x));
  lineElements = 64 * format.blockValues / format.blockBytes;
}

MatmulPlan::MatmulPlan(const MatmulShape &shape, int64_t lanes, kernel::PlanAttr plan) : MatmulPlan(shape, lanes) {
  readPlan(plan, parameters(), *this);
}

MatmulPlan::MatmulPlan(const MatmulShape &shape, const CostModelTarget &machine) : MatmulPlan(shape, machine.lanes) {
  const StorageFormat &format = *weightFormat;
  const int64_t cacheBytes = machine.cacheBytes;
  tileRows = products.rows(format, lanes);
  tileColumns = products.columns(format, tileRows, lanes);
  // Of a panel that was packed for wider vectors, pieces would be streams with gaps: each takes what the others leave.
  rowColumns = std::max(products.columnsOfRow(format, lanes), panelLanes);
  tileSteps = products.steps(format, lanes);
  // Rows at such a distance lie in the same set of L1, which would have to hold one line of each.
  constexpr int64_t mostOfSet = 4;
  bool collide = elementFormat(shape.x).byteSize(groups * groupFeatures) % 4096 == 0;
  int64_t tall = products.tallRows(format, lanes);
  tallRows = hasHalves() && (!collide || tall <= mostOfSet) ? tall : 0;
  // A smaller weight stays in L2 beside others of its kind.
  int64_t lines = llvm::divideCeil(format.byteSize(tileSteps * panelLanes), cacheLineBytes);
  bool large = storedBytes(shape.weight) >= cacheBytes / 4;
  bool fetches = large && !(machine.prefetchesStreams && products.isFollowed(format));
  fetchAhead = fetches ? products.fetchAhead(format, groupPanels(1) * lines, lanes) : 0;
  for (fetchRows = products.rowsAhead(format, lanes); fetchRows > 1 && pieceLanes(fetchRows) < panelLanes;)
    --fetchRows;
  fetchFirst = 0;
  fetchLevel = 2;
  streamRows = 0;
  streamDepth = depth;
  layoutRows = layoutDepth() > 0 ? products.layout->rows(*weightFormat, lanes) : 0;
  // Rows that pass unpacked panels are no tall tile.
  if (layoutRows > 0 && layoutRows <= tallRows)
    tallRows = 0;
  if (machine.dropsPrefetches && large && products.streams)
    chooseStreams(format);
  // Of two tiles, or pieces of a tile that is alone, each fetches a part of the group that comes next.
  int64_t groupLanes = panelLanes * groupPanels(tileRows);
  int64_t parts = std::max<int64_t>(panelLanes / pieceLanes(fewRows() + 1), 2);
  fetchNext = std::clamp<int64_t>(llvm::divideCeil(groupLanes * tileSteps, parts * lineElements), 2, mostFetches);
  taskPanels = groupPanels(tileRows);
  blockDepth = products.blockDepth(format, depth, depthUnit, groupLanes, cacheBytes);
  // Half of the cache: what passes through it, and what else runs on the core, takes its part.
  int64_t groupBytes = format.byteSize(blockDepth * groupLanes);
  chooseBlocks(elementFormat(shape.x), cacheBytes / 2 - 2 * groupBytes);
}

// Where fetches never wait, software brings lines into L1 as early as it likes. A tile that is alone fetches its own
// stream. Of several tiles the first one waits for memory, and the others do not: blocks of k that fit into L1 twice
// let all of them share the wait. That pays as long as a weight of f32 takes longer to read than half of its
// multiply-adds. A tall tile would skip half of each row of a panel, and come back for it.
void MatmulPlan::chooseStreams(const StorageFormat &weight) {
  constexpr int64_t ahead = 128, blockBytes = 16 << 10;
  fetchLevel = 1;
  fetchAhead = ahead;
  fetchRows = tileRows;
  if (weight.blockBytes != 4 * weight.blockValues)
    return;
  int64_t most = blockBytes / (panelLanes * groupPanels(tileRows) * 4), size = most;
  while (size > most / 2 && depth % size != 0)
    --size;
  if (depth % size != 0)
    return;
  streamRows = 4 * tileRows;
  streamDepth = size;
  tallRows = 0;
}

int64_t MatmulPlan::layoutDepth() const {
  return products.layout ? laidOutDepth(depth, depthUnit, groupPanels(layoutTileRows()) * panelLanes) : 0;
}

// Rows with all of k beside one group, or rows with a block of k beside their sums for many groups.
void MatmulPlan::chooseBlocks(const StorageFormat &x, int64_t room) {
  constexpr int64_t mostRows = 192;  // sums on the stack are those of one group
  bool many = sumsInResult() || !products.rowsStay;
  blockRows = many ? mostRows : std::clamp<int64_t>(room / x.byteSize(depth), 8 * talc::tileRows, mostRows);
  int64_t group = groupPanels(tileRows),
          groups = (room / (blockRows * 4) - x.byteSize(blockDepth) / 4) / (panelLanes * group);
  blockPanels = blockDepth == depth ? panels : sumsInResult() && groups > 1 ? groups * group : group;
}

bool MatmulPlan::hasRoomForSums() const {
  return blockRows * groupPanels(tileRows) * panelLanes * 4 <= mostSumBytes;
}

void MatmulPlan::fitLayout() {
  if (!hasRoomForSums())
    layoutRows = 0;
}

std::string MatmulPlan::contradiction() const {
  if (tileColumns % lanes != 0 || rowColumns % lanes != 0)
    return "tile_columns and row_columns are no multiples of " + std::to_string(lanes) + ", the lanes of a vector";
  if (products.fixedSteps && tileSteps != products.steps(*weightFormat, lanes))
    return "tile_steps is not " + std::to_string(products.steps(*weightFormat, lanes)) +
           ", what its products take at a time";
  auto cutsTurn = [&](int64_t size) { return size < depth && size % depthUnit != 0; };
  if (cutsTurn(blockDepth) || (streamRows > 0 && cutsTurn(streamDepth)))
    return "block_depth or stream_depth is no multiple of " + std::to_string(depthUnit) +
           ", what its products take together";
  if (tallRows > tileRows && !hasHalves())
    return "tall_rows need panels as wide as a tile, of two or more vectors";
  if (depth % blockDepth != 0)
    return "block_depth does not divide " + std::to_string(depth);
  if (streamRows > 0 && depth % streamDepth != 0)
    return "stream_depth does not divide " + std::to_string(depth);
  if (layoutRows > 0 && layoutDepth() == 0)
    return "layout_rows is not 0, but panels of " + std::to_string(depth) + " of k are not unpacked";
  int64_t group = groupPanels(tileRows);
  if (blockDepth < depth && !sumsInResult() && blockPanels > group)
    return "block_panels is more than " + std::to_string(group) +
           ", a group, but sums wait on the stack while k goes on";
  if ((!sumsInResult() || layoutRows > 0) && !hasRoomForSums())
    return "block_rows needs more than " + std::to_string(mostSumBytes) + " bytes of the stack";
  return "";
}

// A few rows need more columns, so that there are chains enough.
int64_t MatmulPlan::columns(int64_t rows) const {
  if (rows == 1)
    return rowColumns;
  if (rows > tileRows)
    return products.tallColumns(*weightFormat, tileColumns, lanes);
  bool few = rows < tileRows && rows <= products.rows(*weightFormat, lanes);
  return few ? std::max(products.columns(*weightFormat, rows, lanes), tileColumns) : tileColumns;
}

int64_t MatmulPlan::fewRows() const {
  bool streams = fetchAhead > 0 && fetchRows > 1;
  int64_t most = streams ? std::min(fetchRows, tileRows) : 0;
  while (tileLanes(most + 1) > tileLanes(tileRows))
    ++most;
  while (most > 1 && pieceLanes(most) < panelLanes)
    --most;
  return most;
}

int64_t MatmulPlan::groupPanels(int64_t rows) const {
  constexpr int64_t mostStreams = 8;  // more read no faster
  if (groups > 1)                     // each of the model's groups has features of its own
    return 1;
  return std::clamp<int64_t>(columns(rows) / panelLanes, 1, std::min(panels, mostStreams));
}

int64_t MatmulPlan::pieceLanes(int64_t rows) const {
  int64_t piece = std::min(columns(rows), panelLanes);
  while (panelLanes % piece != 0)
    piece -= lanes;
  return piece;
}

}  // namespace talc
