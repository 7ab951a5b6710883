// SPDX-License-Identifier: Apache-2.0
// Loaders of A for m16n8k16: from global memory, and through a multi-stage buffer that asynchronous copies fill.
//
//   k / 16    0  1  2  3  4 ...     While k-step i is multiplied, the next two are being copied. The second of them
//   stage     0  1  2  3  0 ...     overwrites the stage of k-step i - 2, which all lanes have read by then.
//
// Each warp has a buffer of its own: its lanes copy, wait and read, and no other warp waits for them. A line of a stage
// has 16 values of a row, as two halves of 16 bytes. Every other four rows swap their halves: so the eight rows of a
// half that ldmatrix reads at once use all 32 banks, without bank conflicts.
//
//   row    0     1     2     3     4     5  ...
//   half   0 1   0 1   0 1   0 1   1 0   1 0
#include "compiler/passes/schedule/gpu/matmul/ALoader.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace talc {

namespace {

using Atom = MmaSyncM16N8K16;

// Rows beyond the last one read the last one again.
Value clampRow(WorkgroupEmitter &e, const MmaPlan &plan, kernel::TasksOp tasks, Value index) {
  if (plan.hasOneRow)
    return e.index(0);
  return e.min(e.add(tasks.part(0), index), e.sub(tasks.part(1), e.index(1)));
}

class DirectALoader final : public ALoader {
public:
  DirectALoader(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &plan)
      : e(e), op(op), plan(plan), canLoadPairs(plan.hasAlignedRows(op, 2)) {}

  void begin(Value firstFeature) override {
    Value lane = e.rem(e.thread(), Atom::threads), group = e.div(lane, 4);
    feature = e.add(firstFeature, e.mul(e.rem(lane, 4), 2));
    for (int64_t r = 0; r < 2 * plan.tiles; ++r)
      rows.push_back(clampRow(e, plan, kernel::TasksOp::around(op), e.add(group, r * 8)));
  }

  Values load(Value k) override {
    Values fragments;
    for (int64_t tile = 0; tile < plan.tiles; ++tile)
      fragments.push_back(loadFragment(tile, e.add(feature, k)));
    return fragments;
  }

private:
  Value loadFragment(int64_t tile, Value column) {
    Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(plan.mma.fragmentA(plan.element)));
    for (int64_t i = 0; i < 4; ++i) {
      Value pair = loadPair(rows[2 * tile + i % 2], e.add(column, i / 2 * 8));
      if (getElementTypeOrSelf(pair) != plan.element)
        pair = arith::TruncFOp::create(e.b, e.loc, VectorType::get({2}, plan.element), pair);
      fragment = vector::InsertOp::create(e.b, e.loc, pair, fragment, i);
    }
    return fragment;
  }

  // Rows of a view may begin at any offset.
  Value loadPair(Value row, Value column) {
    if (canLoadPairs)
      return e.loadVector(op.getX(), {row, column}, 2);
    Values pair = {e.loadScalar(op.getX(), {row, column}), e.loadScalar(op.getX(), {row, e.add(column, 1)})};
    return vector::FromElementsOp::create(e.b, e.loc, VectorType::get({2}, e.b.getF32Type()), pair);
  }

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  const MmaPlan plan;
  const bool canLoadPairs;
  Value feature;  // of the thread
  Values rows;    // of the thread: g and g + 8 of every tile
};

class StagedALoader final : public ALoader {
public:
  StagedALoader(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &plan, Value bytes, BLoader *b)
      : e(e), op(op), plan(plan), b(b),
        stages(viewBytes(e, bytes, {plan.kParts * plan.stages * plan.rows() * lineSize}, plan.element)) {}

  void begin(Value firstFeature) override {
    Value thread = e.thread(), lane = e.rem(thread, Atom::threads);
    Value buffer = e.mul(e.div(thread, Atom::threads), plan.stages * plan.rows() * lineSize);
    feature = e.add(firstFeature, e.mul(e.rem(lane, halves), halfSize));
    copyOffset = e.add(buffer, offsetInTile(e.div(lane, halves), e.rem(lane, halves)));
    readOffset = e.add(buffer, offsetInTile(e.rem(lane, Atom::m), e.div(lane, Atom::m)));
    for (int64_t r = 0; r < plan.rows(); r += Atom::m)
      rows.push_back(clampRow(e, plan, kernel::TasksOp::around(op), e.add(e.div(lane, halves), r)));
    for (int64_t step = 0; step < stepsAhead(); ++step) {
      if (step * Atom::k < plan.partDepth)
        copy(e.index(step * Atom::k));
      closeGroup();
    }
  }

  // Closes a group even if nothing was copied, so that the number of open groups is always the same.
  Values load(Value k) override {
    Value next = e.add(k, stepsAhead() * Atom::k);
    e.when(e.less(next, e.index(plan.partDepth)), [&] { copy(next); });
    nvgpu::DeviceAsyncWaitOp::create(e.b, e.loc, closeGroup(),
                                     e.b.getI32IntegerAttr(static_cast<int32_t>(stepsAhead())));
    Values fragments;
    for (int64_t tile = 0; tile < plan.tiles; ++tile)
      fragments.push_back(nvgpu::LdMatrixOp::create(e.b, e.loc, plan.mma.fragmentA(plan.element), stages,
                                                    offsetInStages(k, readOffset, tile), /*transpose=*/false,
                                                    /*numTiles=*/4));
    return fragments;
  }

private:
  static constexpr int64_t lineSize = Atom::k, halves = 2, halfSize = lineSize / halves;  // a lane copies a half
  static_assert(Atom::threads / halves == Atom::m, "lanes copy a tile at once");
  int64_t stepsAhead() const { return plan.stages - 2; }

  // Every other four rows swap their halves, in all tiles alike.
  Value offsetInTile(Value row, Value half) {
    Value swapped = arith::XOrIOp::create(e.b, e.loc, half, e.rem(e.div(row, 4), halves));
    return e.add(e.mul(row, lineSize), e.mul(swapped, halfSize));
  }

  // The offset of an element of a tile in the stage of k, from its offset in the first tile of the first stage.
  Value offsetInStages(Value k, Value offset, int64_t tile) {
    Value stage = e.rem(e.div(k, Atom::k), plan.stages);
    return e.add(e.add(offset, e.mul(stage, plan.rows() * lineSize)), tile * Atom::m * lineSize);
  }

  // A single row is read by more workgroups than there are multiprocessors: through L1, since they would wait for each
  // other at L2.
  void copy(Value k) {
    const UnitAttr bypassL1 = plan.hasOneRow ? UnitAttr() : e.b.getUnitAttr();
    for (auto [tile, row] : llvm::enumerate(rows))
      nvgpu::DeviceAsyncCopyOp::create(e.b, e.loc, nvgpu::DeviceAsyncTokenType::get(e.b.getContext()), stages,
                                       offsetInStages(k, copyOffset, static_cast<int64_t>(tile)), op.getX(),
                                       ValueRange{row, e.add(feature, k)}, e.b.getIndexAttr(halfSize), Value(),
                                       bypassL1);
    if (b)
      b->copy(k);
  }

  Value closeGroup() {
    return nvgpu::DeviceAsyncCreateGroupOp::create(e.b, e.loc, nvgpu::DeviceAsyncTokenType::get(e.b.getContext()),
                                                   ValueRange());
  }

  WorkgroupEmitter &e;
  kernel::MatmulOp op;
  const MmaPlan plan;
  BLoader *const b;
  const Value stages;            // of all warps
  Value copyOffset, readOffset;  // of the lane, in the first tile of the warp's first stage
  Value feature;                 // that the lane copies first
  Values rows;                   // that the lane copies: one of each tile
};

}  // namespace

std::unique_ptr<ALoader> ALoader::create(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &plan, Value bytes,
                                         BLoader *b) {
  if (plan.stages > 0)
    return std::make_unique<StagedALoader>(e, op, plan, bytes, b);
  return std::make_unique<DirectALoader>(e, op, plan);
}

}  // namespace talc
