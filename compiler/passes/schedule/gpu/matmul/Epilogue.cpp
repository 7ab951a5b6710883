// SPDX-License-Identifier: Apache-2.0
// Adds the upper half of the split-K parts to the lower half, until one is left. Each thread adds sums of the same
// thread of another warp:
//
//   parts 0 1 2 3   ->   0 + 2, 1 + 3   ->   (0 + 2) + (1 + 3)
//
// Then a thread of group g has 16 neighboring lanes of row g: the columns 2c and 2c + 1 of 8 instructions. It stores
// four at once to shared memory. Where columns are contiguous and aligned, four are loaded, finished and stored at
// once. Rows beyond the last one are not stored.
#include "compiler/passes/schedule/gpu/matmul/Epilogue.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

constexpr int64_t maxVectorWidth = 4;  // values of a load or store

MmaEpilogue::MmaEpilogue(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &plan, Value bytes)
    : e(e), op(op), tasks(kernel::TasksOp::around(op)), plan(plan),
      sharedSums(viewBytes(e, bytes, {plan.sharedSums()}, e.b.getF32Type())) {
  Value thread = e.thread();
  lane = e.rem(thread, plan.warp);
  warp = e.div(thread, plan.warp);
  group = e.div(lane, 4);
  laneInGroup = e.rem(lane, 4);
}

void MmaEpilogue::store(Values accumulators) {
  if (plan.stages > 0 && plan.kParts > 1)
    e.sync();  // all warps have read their stages
  for (int64_t half = plan.kParts / 2; half >= 1; half /= 2)
    accumulators = addUpperParts(accumulators, half);
  e.when(e.less(warp, e.index(1)), [&] { storeTile(accumulators); });
  e.sync();
  storeAllColumns();
}

//===--- split-K ------------------------------------------------------------------------------------------------===//

// Column by column: in row order it would be the same vector in another shape, which upstream's conversion to LLVM does
// not take.
static constexpr int64_t order[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};

// The parts from `half` on store their sums, and as many parts before them add these to their own.
MmaEpilogue::Values MmaEpilogue::addUpperParts(ValueRange sums, int64_t half) {
  Value isLower = e.less(warp, e.index(half));
  Value isUpper = arith::AndIOp::create(e.b, e.loc, e.less(e.index(half - 1), warp), e.less(warp, e.index(2 * half)));
  e.when(isUpper, [&] { storeSums(sums, e.sub(warp, e.index(half))); });
  e.sync();
  Values added = e.either(
      isLower, [&] { return addStoredSums(sums, warp); }, [&] { return Values(sums); });
  if (half > 1)
    e.sync();  // all have read before others store; in the last round the warp that reads is the one that stores
  return added;
}

Value MmaEpilogue::sumOffset(Value slot, size_t index, size_t count) {
  Value accumulator = e.add(e.mul(slot, static_cast<int64_t>(count)), static_cast<int64_t>(index));
  return e.mul(e.add(e.mul(accumulator, plan.warp), lane), 4);
}

void MmaEpilogue::storeSums(ValueRange sums, Value slot) {
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Values values;
    for (ArrayRef<int64_t> at : order)
      values.push_back(vector::ExtractOp::create(e.b, e.loc, sum, at));
    e.storeVector(values, sharedSums, {sumOffset(slot, index, sums.size())});
  }
}

MmaEpilogue::Values MmaEpilogue::addStoredSums(ValueRange sums, Value slot) {
  Values added;
  for (auto [index, sum] : llvm::enumerate(sums)) {
    Value stored = e.loadVector(sharedSums, {sumOffset(slot, index, sums.size())}, 4), total = sum;
    for (auto [i, at] : llvm::enumerate(order)) {
      Value value = vector::ExtractOp::create(e.b, e.loc, stored, static_cast<int64_t>(i));
      value = e.addf(vector::ExtractOp::create(e.b, e.loc, sum, ArrayRef<int64_t>(at)), value);
      total = vector::InsertOp::create(e.b, e.loc, value, total, ArrayRef<int64_t>(at));
    }
    added.push_back(total);
  }
  return added;
}

//===--- the tile in shared memory ------------------------------------------------------------------------------===//

// Every other eight vectors of a row swap neighbors or halves. Without it, threads that store, 16 lanes apart, or that
// load from two panels would have bank conflicts.
Value MmaEpilogue::swizzle(Value column) {
  const int64_t distance = plan.vectorWidth() == 8 ? maxVectorWidth : 4 * maxVectorWidth;
  return arith::XOrIOp::create(e.b, e.loc, column, e.mul(e.rem(e.div(column, 8 * maxVectorWidth), 2), distance));
}

// Layout: [rows][panels][lanes].
void MmaEpilogue::storeTile(ValueRange sums) {
  for (int64_t tile = 0; tile < plan.tiles; ++tile)
    for (int64_t half = 0; half < 2; ++half)
      storeTileRow(sums.slice(tile * plan.tileInstructions(), plan.tileInstructions()), half,
                   e.add(group, tile * plan.atom.m + half * 8));
}

void MmaEpilogue::storeTileRow(ValueRange sums, int64_t half, Value row) {
  const int64_t width = plan.vectorWidth(), neighbors = 2 * width, count = std::min(maxVectorWidth, neighbors);
  for (int64_t first = 0; first < static_cast<int64_t>(sums.size()); first += width)
    for (int64_t begin = 0; begin < neighbors; begin += count) {
      Values values;
      for (int64_t i = begin; i < begin + count; ++i)
        values.push_back(
            vector::ExtractOp::create(e.b, e.loc, sums[first + i % width], ArrayRef<int64_t>{half, i / width}));
      Value column = e.add(e.mul(laneInGroup, neighbors), first * plan.atom.n + begin);
      e.storeVector(values, sharedSums, {e.add(e.mul(row, plan.paddedColumns()), swizzle(column))});
    }
}

//===--- epilogue -----------------------------------------------------------------------------------------------===//

int64_t MmaEpilogue::vectorWidth() {
  return plan.canVectorizeColumns(op, maxVectorWidth) ? maxVectorWidth : 1;
}

// A thread takes every n-th vector of the task's columns.
void MmaEpilogue::storeAllColumns() {
  const int64_t width = plan.taskPanels * plan.columns, count = vectorWidth();
  e.each((plan.hasOneRow ? 1 : plan.rows()) * width / count, [&](Value vector) {
    Value first = e.mul(vector, count), tileRow = e.div(first, width), taskColumn = e.rem(first, width);
    Value row = e.add(tasks.part(0), tileRow), column = e.rem(taskColumn, plan.columns);
    Value taskPanel = e.div(taskColumn, plan.columns), panel = e.add(tasks.part(2), taskPanel);
    Value exists = arith::AndIOp::create(e.b, e.loc, e.less(row, tasks.part(1)), plan.hasColumn(e, panel, column));
    e.when(exists, [&] { storeColumns(tileRow, taskPanel, column, row, plan.columnIndex(e, panel, column)); });
  });
}

MmaEpilogue::Values MmaEpilogue::loadInputs(Value row, Value column) {
  Values inputs;
  for (Value input : op.getInputs()) {
    bool hasRows = cast<MemRefType>(input.getType()).getRank() == 2;
    inputs.push_back(e.loadVector(input, hasRows ? Values{row, column} : Values{column}, vectorWidth()));
  }
  return inputs;
}

void MmaEpilogue::storeColumns(Value tileRow, Value taskPanel, Value panelColumn, Value row, Value column) {
  const int64_t count = vectorWidth();
  Values vectors;
  for (int64_t p = 0; p < plan.parts; ++p) {
    Value at = swizzle(e.add(e.add(e.mul(taskPanel, plan.lanes), p * plan.columns), panelColumn));
    vectors.push_back(e.loadVector(sharedSums, {e.add(e.mul(tileRow, plan.paddedColumns()), at)}, count));
  }
  vectors.append(loadInputs(row, column));
  Values results;
  for (int64_t i = 0; i < count; ++i) {
    Values arguments;
    for (Value vector : vectors)
      arguments.push_back(vector::ExtractOp::create(e.b, e.loc, vector, i));
    results.push_back(vectorize(e, op.getEpilogue().front(), arguments)[0]);
  }
  e.storeVector(results, op.getInit(), {row, column});
}

}  // namespace talc
