// SPDX-License-Identifier: Apache-2.0
// Upper halves of the parts of k are added to lower ones, each thread's sums to those of the same thread:
//
//   parts 0 1 2 3   ->   0 + 2, 1 + 3   ->   (0 + 2) + (1 + 3)
//
// Then a thread of the group g has of row g, in the columns 2c and 2c + 1 of 8 instructions, 16 neighbouring lanes of a
// panel. It stores four at once, and as many are loaded, finished and stored together where their places in memory
// allow it. Rows that are missing are not stored.
#include "compiler/passes/schedule/gpu/matmul/Epilogue.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;

namespace talc {

constexpr int64_t subgroup = MmaPlan::subgroup, most = 4;  // numbers of a request

MmaEpilogue::MmaEpilogue(WorkgroupEmitter &e, kernel::MatmulOp op, const MmaPlan &sizes, Value bytes)
    : e(e), op(op), tasks(kernel::TasksOp::around(op)), sizes(sizes),
      sums(viewOf(e, bytes, {sizes.sharedValues()}, e.b.getF32Type())) {
  Value thread = e.thread();
  lane = e.rem(thread, subgroup);
  own = e.div(thread, subgroup);
  group = e.div(lane, 4);
  inGroup = e.rem(lane, 4);
}

void MmaEpilogue::finish(Values found) {
  if (sizes.stages > 0 && sizes.kParts > 1)
    e.sync();  // all have read what was there
  for (int64_t half = sizes.kParts / 2; half >= 1; half /= 2)
    found = addUpperParts(found, half);
  e.when(e.less(own, e.index(1)), [&] { keep(found); });
  e.sync();
  finishAll();
}

//===--- parts of k ---------------------------------------------------------------------------------------------===//

// Column by column: row by row would be the same vector in another shape, which conversions to LLVM do not know.
static constexpr int64_t order[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};

// The parts from `half` on leave their sums, which as many before them add to their own.
MmaEpilogue::Values MmaEpilogue::addUpperParts(ValueRange found, int64_t half) {
  Value isLower = e.less(own, e.index(half));
  Value isUpper = arith::AndIOp::create(e.b, e.loc, e.less(e.index(half - 1), own), e.less(own, e.index(2 * half)));
  e.when(isUpper, [&] { leave(found, e.sub(own, e.index(half))); });
  e.sync();
  Values added = e.either(
      isLower, [&] { return addLeft(found, own); }, [&] { return Values(found); });
  if (half > 1)
    e.sync();  // all have read before others store; at last the one that reads is the one that stores
  return added;
}

Value MmaEpilogue::placeOf(Value slot, size_t number, size_t count) {
  Value first = e.add(e.mul(slot, static_cast<int64_t>(count)), static_cast<int64_t>(number));
  return e.mul(e.add(e.mul(first, subgroup), lane), 4);
}

void MmaEpilogue::leave(ValueRange found, Value slot) {
  for (auto [number, sum] : llvm::enumerate(found)) {
    Values values;
    for (ArrayRef<int64_t> at : order)
      values.push_back(vector::ExtractOp::create(e.b, e.loc, sum, at));
    e.storeTogether(values, sums, {placeOf(slot, number, found.size())});
  }
}

MmaEpilogue::Values MmaEpilogue::addLeft(ValueRange found, Value slot) {
  Values both;
  for (auto [number, sum] : llvm::enumerate(found)) {
    Value left = e.loadTogether(sums, {placeOf(slot, number, found.size())}, 4), added = sum;
    for (auto [i, at] : llvm::enumerate(order)) {
      Value value = vector::ExtractOp::create(e.b, e.loc, left, static_cast<int64_t>(i));
      value = e.addf(vector::ExtractOp::create(e.b, e.loc, sum, ArrayRef<int64_t>(at)), value);
      added = vector::InsertOp::create(e.b, e.loc, value, added, ArrayRef<int64_t>(at));
    }
    both.push_back(added);
  }
  return both;
}

//===--- rows of sums -------------------------------------------------------------------------------------------===//

// Every other eight requests of a line have neighbours or halves exchanged, since threads that store, 16 lanes apart,
// or load, from two panels, would meet the same banks.
Value MmaEpilogue::placeInLine(Value place) {
  const int64_t exchanged = sizes.perThread() == 8 ? most : 4 * most;
  return arith::XOrIOp::create(e.b, e.loc, place, e.mul(e.rem(e.div(place, 8 * most), 2), exchanged));
}

// Into shared memory, [rows][panels][lanes].
void MmaEpilogue::keep(ValueRange found) {
  for (int64_t tile = 0; tile < sizes.tiles; ++tile)
    for (int64_t half = 0; half < 2; ++half)
      keepRow(found.slice(tile * sizes.instructions(), sizes.instructions()), half,
              e.add(group, tile * MmaPlan::tileRows + half * 8));
}

void MmaEpilogue::keepRow(ValueRange found, int64_t half, Value row) {
  const int64_t perThread = sizes.perThread(), neighbours = 2 * perThread, count = std::min(most, neighbours);
  for (int64_t first = 0; first < static_cast<int64_t>(found.size()); first += perThread)
    for (int64_t begin = 0; begin < neighbours; begin += count) {
      Values values;
      for (int64_t i = begin; i < begin + count; ++i)
        values.push_back(vector::ExtractOp::create(e.b, e.loc, found[first + i % perThread],
                                                   ArrayRef<int64_t>{half, i / perThread}));
      Value place = e.add(e.mul(inGroup, neighbours), first * MmaPlan::tileColumns + begin);
      e.storeTogether(values, sums, {e.add(e.mul(row, sizes.line()), placeInLine(place))});
    }
}

//===--- epilogue -----------------------------------------------------------------------------------------------===//

int64_t MmaEpilogue::together() {
  return sizes.holdTogether(op, most) ? most : 1;
}

// A thread takes every n-th place of the task, of one column or of several.
void MmaEpilogue::finishAll() {
  const int64_t width = sizes.taskPanels * sizes.columns, count = together();
  e.each((sizes.oneRow ? 1 : sizes.rows()) * width / count, [&](Value number) {
    Value first = e.mul(number, count), r = e.div(first, width), inTask = e.rem(first, width);
    Value row = e.add(tasks.part(0), r), column = e.rem(inTask, sizes.columns);
    Value place = e.div(inTask, sizes.columns), panel = e.add(tasks.part(2), place);
    Value inside = arith::AndIOp::create(e.b, e.loc, e.less(row, tasks.part(1)), sizes.hasColumn(e, panel, column));
    e.when(inside, [&] { finish(r, place, column, row, sizes.columnOf(e, panel, column)); });
  });
}

MmaEpilogue::Values MmaEpilogue::loadInputs(Value row, Value column) {
  Values inputs;
  for (Value input : op.getInputs()) {
    bool byRow = cast<MemRefType>(input.getType()).getRank() == 2;
    inputs.push_back(e.loadTogether(input, byRow ? Values{row, column} : Values{column}, together()));
  }
  return inputs;
}

// Of columns of a panel of the task.
void MmaEpilogue::finish(Value r, Value place, Value inPanel, Value row, Value column) {
  const int64_t count = together();
  Values found;
  for (int64_t p = 0; p < sizes.parts; ++p) {
    Value at = placeInLine(e.add(e.add(e.mul(place, sizes.lanes), p * sizes.columns), inPanel));
    found.push_back(e.loadTogether(sums, {e.add(e.mul(r, sizes.line()), at)}, count));
  }
  found.append(loadInputs(row, column));
  Values results;
  for (int64_t i = 0; i < count; ++i) {
    Values arguments;
    for (Value vector : found)
      arguments.push_back(vector::ExtractOp::create(e.b, e.loc, vector, i));
    results.push_back(vectorize(e, op.getEpilogue().front(), arguments)[0]);
  }
  e.storeTogether(results, op.getInit(), {row, column});
}

}  // namespace talc
