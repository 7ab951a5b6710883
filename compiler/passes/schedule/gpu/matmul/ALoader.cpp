// SPDX-License-Identifier: Apache-2.0
// Rows from memory, and rows through a ring of stages that asynchronous copies fill.
//
//   k / 16    0  1  2  3  4 ...     while step k is multiplied, the next two are on their way, and the copy of the
//   stage     0  1  2  3  0 ...     second goes where step k - 2 was, which all lanes have read by then
//
// A ring belongs to a subgroup: its lanes copy, wait and read, and no other subgroup waits for them. A line of a stage
// has 16 numbers of a row, as two halves of 16 bytes, which every other four rows have exchanged: so eight rows of a
// half, which ldmatrix reads at once, lie in all 32 banks.
//
//   row    0     1     2     3     4     5  ...
//   half   0 1   0 1   0 1   0 1   1 0   1 0
#include "compiler/passes/schedule/gpu/matmul/ALoader.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t tileRows = MmaPlan::tileRows, tileDepth = MmaPlan::tileDepth, subgroup = MmaPlan::subgroup;

// Beyond the last row it is the last again.
Value rowAt(WorkgroupEmitter &e, const MmaPlan &sizes, kernel::TasksOp tasks, Value number) {
  if (sizes.oneRow)
    return e.index(0);
  return e.min(e.add(tasks.part(0), number), e.sub(tasks.part(1), e.index(1)));
}

class DirectALoader final : public ALoader {
public:
  DirectALoader(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &sizes)
      : e(e), op(op), sizes(sizes), pairs(sizes.startsAtMultiples(op, 2)) {}

  void enter(Value first) override {
    Value lane = e.rem(e.thread(), subgroup), group = e.div(lane, 4);
    feature = e.add(first, e.mul(e.rem(lane, 4), 2));
    for (int64_t r = 0; r < 2 * sizes.tiles; ++r)
      rows.push_back(rowAt(e, sizes, kernel::TasksOp::around(op), e.add(group, r * 8)));
  }

  Values load(Value k) override {
    Values factors;
    for (int64_t tile = 0; tile < sizes.tiles; ++tile)
      factors.push_back(load(tile, e.add(feature, k)));
    return factors;
  }

private:
  VectorType vectorOf(ArrayRef<int64_t> shape) { return VectorType::get(shape, sizes.element); }

  Value load(int64_t tile, Value column) {
    Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(vectorOf({4, 2})));
    for (int64_t i = 0; i < 4; ++i) {
      Value pair = loadPair(rows[2 * tile + i % 2], e.add(column, i / 2 * 8));
      if (getElementTypeOrSelf(pair) != sizes.element)
        pair = arith::TruncFOp::create(e.b, e.loc, vectorOf({2}), pair);
      fragment = vector::InsertOp::create(e.b, e.loc, pair, fragment, i);
    }
    return fragment;
  }

  // Rows of a view may begin anywhere.
  Value loadPair(Value row, Value column) {
    if (pairs)
      return e.loadTogether(op.getX(), {row, column}, 2);
    Values pair = {e.loadScalar(op.getX(), {row, column}), e.loadScalar(op.getX(), {row, e.add(column, 1)})};
    return vector::FromElementsOp::create(e.b, e.loc, VectorType::get({2}, e.b.getF32Type()), pair);
  }

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  const MmaPlan sizes;
  const bool pairs;
  Value feature;  // of the thread
  Values rows;    // of the thread: g and g + 8 of every tile
};

class StagedALoader final : public ALoader {
public:
  StagedALoader(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &sizes, Value bytes, BLoader *weights)
      : e(e), op(op), sizes(sizes), weights(weights),
        stages(viewOf(e, bytes, {sizes.kParts * sizes.stages * sizes.rows() * line}, sizes.element)) {}

  void enter(Value first) override {
    Value thread = e.thread(), lane = e.rem(thread, subgroup);
    Value ring = e.mul(e.div(thread, subgroup), sizes.stages * sizes.rows() * line);
    feature = e.add(first, e.mul(e.rem(lane, halves), half));
    copied = e.add(ring, placeInTile(e.div(lane, halves), e.rem(lane, halves)));
    read = e.add(ring, placeInTile(e.rem(lane, tileRows), e.div(lane, tileRows)));
    for (int64_t r = 0; r < sizes.rows(); r += tileRows)
      rows.push_back(rowAt(e, sizes, kernel::TasksOp::around(op), e.add(e.div(lane, halves), r)));
    for (int64_t step = 0; step < ahead(); ++step) {
      if (step * tileDepth < sizes.partDepth)
        copy(e.index(step * tileDepth));
      closeGroup();
    }
  }

  // A group is closed even if nothing was copied, so that always as many may be open.
  Values load(Value k) override {
    Value next = e.add(k, ahead() * tileDepth);
    e.when(e.less(next, e.index(sizes.partDepth)), [&] { copy(next); });
    nvgpu::DeviceAsyncWaitOp::create(e.b, e.loc, closeGroup(), e.b.getI32IntegerAttr(static_cast<int32_t>(ahead())));
    Values factors;
    auto type = VectorType::get({4, 2}, sizes.element);
    for (int64_t tile = 0; tile < sizes.tiles; ++tile)
      factors.push_back(nvgpu::LdMatrixOp::create(e.b, e.loc, type, stages, placeOf(k, read, tile),
                                                  /*transpose=*/false, /*numTiles=*/4));
    return factors;
  }

private:
  static constexpr int64_t line = tileDepth, halves = 2, half = line / halves;  // of a line, that a lane copies
  static_assert(subgroup / halves == tileRows, "lanes copy a tile at once");
  int64_t ahead() const { return sizes.stages - 2; }

  // Every other four rows have their halves exchanged, in all tiles alike.
  Value placeInTile(Value row, Value number) {
    Value exchanged = arith::XOrIOp::create(e.b, e.loc, number, e.rem(e.div(row, 4), halves));
    return e.add(e.mul(row, line), e.mul(exchanged, half));
  }

  // In the stage of k, what lies at a place of its first tile.
  Value placeOf(Value k, Value inTile, int64_t tile) {
    Value stage = e.rem(e.div(k, tileDepth), sizes.stages);
    return e.add(e.add(inTile, e.mul(stage, sizes.rows() * line)), tile * tileRows * line);
  }

  // A single row is read by more workgroups than there are multiprocessors: all at once from L2, they would wait for
  // each other.
  void copy(Value k) {
    const UnitAttr bypassL1 = sizes.oneRow ? UnitAttr() : e.b.getUnitAttr();
    for (auto [tile, row] : llvm::enumerate(rows))
      nvgpu::DeviceAsyncCopyOp::create(e.b, e.loc, nvgpu::DeviceAsyncTokenType::get(e.b.getContext()), stages,
                                       placeOf(k, copied, static_cast<int64_t>(tile)), op.getX(),
                                       ValueRange{row, e.add(feature, k)}, e.b.getIndexAttr(half), Value(), bypassL1);
    if (weights)
      weights->copy(k);
  }

  Value closeGroup() {
    return nvgpu::DeviceAsyncCreateGroupOp::create(e.b, e.loc, nvgpu::DeviceAsyncTokenType::get(e.b.getContext()),
                                                   ValueRange());
  }

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  const MmaPlan sizes;
  BLoader *const weights;
  const Value stages;  // of all subgroups
  Value copied, read;  // where the lane stores and reads in the first tile of the subgroup's first stage
  Value feature;       // that the lane copies first
  Values rows;         // that it copies of: one of each tile
};

}  // namespace

std::unique_ptr<ALoader> ALoader::create(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &sizes, Value bytes,
                                         BLoader *weights) {
  if (sizes.stages > 0)
    return std::make_unique<StagedALoader>(e, op, sizes, bytes, weights);
  return std::make_unique<DirectALoader>(e, op, sizes);
}

}  // namespace talc
