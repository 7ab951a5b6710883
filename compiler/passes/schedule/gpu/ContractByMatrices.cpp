// SPDX-License-Identifier: Apache-2.0
// kernel.contract of 16-bit weights by matrix instructions: a workgroup has two panels and some tiles of 16 rows, and
// each of its subgroups a part of k.
//
//   for each 16 of k:  A = rows of x, rounded to the weight's type;  B = a panel's lanes;  C = A * B + C
//
// A thread of an m16n8k16 instruction holds of B two neighbouring k of one column, and there are 8 columns. Panels have
// neighbouring columns side by side, so columns are dealt to instructions the other way round: of a panel with 64 lanes
// thread group g loads lanes [8 g, 8 g + 8) at once, one for each of 8 instructions.
//
//   lanes of a panel    0 1 2 3 4 5 6 7 | 8 ...        instruction j has the lanes j, 8 + j, 16 + j, ...
//   loaded by group     0               | 1
//
// k ascends in steps of 16, in as many parts as the weight's shape says (DepthParts.h) and no step changes; upper
// halves of the parts are added to lower ones, each thread's sums to those of the same thread. With partial sums a task
// is a subgroup that has one part of the only row.
//
// Then they go through shared memory once more, so that the code of an epilogue exists once. Rows that are missing are
// the last again, and not stored.
#include "compiler/passes/schedule/gpu/ContractPanels.h"
#include "compiler/passes/schedule/gpu/DepthParts.h"
#include "compiler/passes/schedule/gpu/WorkgroupPieces.h"
#include "dialects/talc/formats/StorageFormat.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/NVGPU/IR/NVGPUDialect.h"

using namespace mlir;

namespace talc {

namespace {

constexpr int64_t subgroup = 32, tileRows = 16, tileColumns = 8, tileDepth = 16;

struct Sizes : ContractPanels {
  explicit Sizes(kernel::ContractOp op) : ContractPanels(op) {
    element = cast<MemRefType>(op.getWeight().getType()).getElementType();
    oneRow = cast<MemRefType>(op.getX().getType()).getDimSize(0) == 1;
    tiles = oneRow ? 1 : 2;
    taskPanels = groups == 1 && count > 1 ? 2 : 1;
    const DepthParts parts(op, /*matrices=*/true);
    partDepth = depth / parts.count;
    alone = kernel::partialSumsOf(op) > 0;
    kParts = alone ? 1 : parts.count;
  }

  int64_t perThread() const { return columns / tileColumns; }  // neighbouring lanes that a thread loads
  int64_t rows() const { return tiles * tileRows; }
  int64_t instructions() const { return taskPanels * parts * perThread(); }  // of a tile
  // Of the sums in shared memory. Threads of a request that store neighbouring rows meet different banks.
  int64_t line() const { return taskPanels * lanes + 8; }
  // What half of the parts leave for the others, or all sums.
  int64_t sharedValues() const { return std::max(kParts / 2 * tiles * instructions() * subgroup * 4, rows() * line()); }

  Type element;
  int64_t tiles, taskPanels;  // of a task
  int64_t kParts, partDepth;  // of a task, each a subgroup's
  bool oneRow, alone;         // a task has one part of the only row
};

class MatrixContract {
public:
  MatrixContract(WorkgroupEmitter &e, kernel::ContractOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), sizes(op) {}

  void expand() {
    setExtents(
        e, op,
        [&]() -> Emitter::Values {
          return {sizes.alone ? e.index(sizes.depth / sizes.partDepth) : e.rows(op.getX()), e.index(sizes.count)};
        },
        {sizes.alone ? 1 : sizes.rows(), sizes.taskPanels});
    Value thread = e.thread();
    lane = e.rem(thread, subgroup);
    own = e.div(thread, subgroup);
    group = e.div(lane, 4);
    inGroup = e.mul(e.rem(lane, 4), 2);
    for (int64_t p = 0; p < sizes.taskPanels; ++p)
      panels.push_back(e.min(e.add(tasks.part(2), p), e.index(sizes.count - 1)));
    feature = sizes.firstFeature(e, panels.front());
    for (int64_t r = 0; r < 2 * sizes.tiles; ++r)
      rows.push_back(sizes.alone ? e.index(0)
                                 : e.min(e.add(e.add(tasks.part(0), group), r * 8), e.sub(tasks.part(1), e.index(1))));
    sums = e.shared({sizes.sharedValues()});
    Emitter::Values found = accumulate();
    for (int64_t half = sizes.kParts / 2; half >= 1; half /= 2)
      found = addUpperParts(found, half);
    e.when(e.less(own, e.index(1)), [&] { keep(found); });
    e.sync();
    finish();
  }

private:
  VectorType vectorOf(ArrayRef<int64_t> shape, Type type) { return VectorType::get(shape, type); }

  // Of tile t, panel q, half p and instruction j: sum ((t * taskPanels + q) * parts + p) * perThread + j.
  Emitter::Values accumulate() {
    auto type = vectorOf({2, 2}, e.b.getF32Type());
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
    Emitter::Values zeros(sizes.tiles * sizes.instructions(), zero);
    Value begin = e.mul(sizes.alone ? tasks.part(0) : own, sizes.partDepth), end = e.add(begin, sizes.partDepth);
    return e.loop(begin, end, tileDepth, zeros, [&](Value k, ValueRange before) {
      Value first = e.add(k, inGroup);
      Emitter::Values weights = loadWeights(first), next;
      for (int64_t t = 0; t < sizes.tiles; ++t) {
        Value factors = loadRows(t, first);
        for (int64_t i = 0; i < sizes.instructions(); ++i)
          next.push_back(nvgpu::MmaSyncOp::create(e.b, e.loc, factors, weights[i], before[next.size()],
                                                  ArrayRef<int64_t>{tileRows, tileColumns, tileDepth}));
      }
      return next;
    });
  }

  // Fragments B of all instructions: k, k + 1 and k + 8, k + 9 of a column.
  Emitter::Values loadWeights(Value k) {
    Emitter::Values fragments;
    int64_t count = sizes.perThread();
    for (int64_t number = 0; number < sizes.taskPanels * sizes.parts; ++number) {
      Value panel = panels[number / sizes.parts];
      Value first = e.add(e.mul(group, count), number % sizes.parts * sizes.columns);
      Emitter::Values lines;
      for (int64_t distance : {0, 1, 8, 9})
        lines.push_back(e.loadTogether(op.getWeight(), {panel, e.add(k, distance), first}, count));
      for (int64_t j = 0; j < count; ++j) {
        Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(vectorOf({2, 2}, sizes.element)));
        for (int64_t half = 0; half < 2; ++half) {
          Value pair = vector::ShuffleOp::create(e.b, e.loc, lines[2 * half], lines[2 * half + 1],
                                                 ArrayRef<int64_t>{j, count + j});
          fragment = vector::InsertOp::create(e.b, e.loc, pair, fragment, half);
        }
        fragments.push_back(fragment);
      }
    }
    return fragments;
  }

  // Fragment A of a tile: rows g and g + 8 at k, k + 1, then at k + 8, k + 9.
  Value loadRows(int64_t tile, Value k) {
    Value fragment = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(vectorOf({4, 2}, sizes.element)));
    for (int64_t i = 0; i < 4; ++i) {
      Value pair = loadPair(rows[2 * tile + i % 2], e.add(e.add(feature, k), i / 2 * 8));
      pair = arith::TruncFOp::create(e.b, e.loc, vectorOf({2}, sizes.element), pair);
      fragment = vector::InsertOp::create(e.b, e.loc, pair, fragment, i);
    }
    return fragment;
  }

  // Rows of a view may begin anywhere.
  Value loadPair(Value row, Value column) {
    if (sizes.startsAtMultiples(op, 2))
      return e.loadTogether(op.getX(), {row, column}, 2);
    Emitter::Values pair = {e.loadScalar(op.getX(), {row, column}), e.loadScalar(op.getX(), {row, e.add(column, 1)})};
    return vector::FromElementsOp::create(e.b, e.loc, vectorOf({2}, e.b.getF32Type()), pair);
  }

  // The parts from `half` on leave their sums, which as many before them add to their own.
  Emitter::Values addUpperParts(ValueRange found, int64_t half) {
    auto placeOf = [&](Value slot, size_t number) {
      Value first = e.add(e.mul(slot, static_cast<int64_t>(found.size())), static_cast<int64_t>(number));
      return e.mul(e.add(e.mul(first, subgroup), lane), 4);
    };
    auto four = vectorOf({4}, e.b.getF32Type());
    // Column by column: row by row would be the same vector in another shape, which conversions to LLVM do not know.
    constexpr int64_t order[4][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    Value isLower = e.less(own, e.index(half));
    Value isUpper = arith::AndIOp::create(e.b, e.loc, e.less(e.index(half - 1), own), e.less(own, e.index(2 * half)));
    e.when(isUpper, [&] {
      for (auto [number, sum] : llvm::enumerate(found)) {
        Emitter::Values values;
        for (ArrayRef<int64_t> at : order)
          values.push_back(vector::ExtractOp::create(e.b, e.loc, sum, at));
        Value all = vector::FromElementsOp::create(e.b, e.loc, four, values);
        vector::StoreOp::create(e.b, e.loc, all, sums, ValueRange{placeOf(e.sub(own, e.index(half)), number)},
                                /*nontemporal=*/false, llvm::MaybeAlign(16));
      }
    });
    e.sync();
    auto branch = scf::IfOp::create(e.b, e.loc, TypeRange(found), isLower, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(e.b, e.loc, found);
      e.b.setInsertionPointToStart(branch.thenBlock());
      Emitter::Values both;
      for (auto [number, sum] : llvm::enumerate(found)) {
        Value left = e.loadTogether(sums, {placeOf(own, number)}, 4), added = sum;
        for (auto [i, at] : llvm::enumerate(order)) {
          Value value = vector::ExtractOp::create(e.b, e.loc, left, static_cast<int64_t>(i));
          value = e.addf(vector::ExtractOp::create(e.b, e.loc, sum, ArrayRef<int64_t>(at)), value);
          added = vector::InsertOp::create(e.b, e.loc, value, added, ArrayRef<int64_t>(at));
        }
        both.push_back(added);
      }
      scf::YieldOp::create(e.b, e.loc, both);
    }
    if (half > 1)
      e.sync();  // all have read before others store; at last the one that reads is the one that stores
    return Emitter::Values(branch.getResults());
  }

  // Where a column of an instruction is in a line of the sums: those of a thread stand side by side. Every other four
  // instructions have the halves of their columns exchanged: threads that read neighbouring lanes, of eight
  // instructions four columns each, meet all 32 banks.
  Value placeInLine(Value number, Value column) {
    Value exchanged = arith::AndIOp::create(e.b, e.loc, number, e.index(tileColumns / 2));
    return e.add(e.mul(number, tileColumns), arith::XOrIOp::create(e.b, e.loc, column, exchanged));
  }

  // Into shared memory, [rows][instructions][columns].
  void keep(ValueRange found) {
    for (auto [number, sum] : llvm::enumerate(found))
      for (int64_t half = 0; half < 2; ++half) {
        auto tile = static_cast<int64_t>(number) / sizes.instructions();
        Value row = e.add(group, tile * tileRows + half * 8);
        Value place = placeInLine(e.index(static_cast<int64_t>(number) % sizes.instructions()), inGroup);
        Value pair = vector::ExtractOp::create(e.b, e.loc, sum, half);
        vector::StoreOp::create(e.b, e.loc, pair, sums, ValueRange{e.add(e.mul(row, sizes.line()), place)},
                                /*nontemporal=*/false, llvm::MaybeAlign(8));
      }
  }

  // The epilogue, a thread taking every n-th column of the task.
  void finish() {
    int64_t width = sizes.taskPanels * sizes.columns;
    e.each((sizes.oneRow ? 1 : sizes.rows()) * width, [&](Value number) {
      Value r = e.div(number, width), inTask = e.rem(number, width);
      Value row = e.add(tasks.part(0), r), column = e.rem(inTask, sizes.columns);
      Value place = e.div(inTask, sizes.columns), panel = e.add(tasks.part(2), place);
      Value inside = arith::AndIOp::create(e.b, e.loc, e.less(row, tasks.part(1)), sizes.hasColumn(e, panel, column));
      e.when(inside, [&] { finish(r, place, column, row, sizes.columnOf(e, panel, column)); });
    });
  }

  // Of a column of a panel of the task.
  void finish(Value r, Value place, Value inPanel, Value row, Value column) {
    int64_t count = sizes.perThread();
    Emitter::Values arguments;
    for (int64_t p = 0; p < sizes.parts; ++p) {
      Value number = e.add(e.mul(e.add(e.mul(place, sizes.parts), p), count), e.rem(inPanel, count));
      Value at = placeInLine(number, e.div(inPanel, count));
      arguments.push_back(e.loadScalar(sums, {e.add(e.mul(r, sizes.line()), at)}));
    }
    for (Value input : op.getInputs()) {
      bool byRow = cast<MemRefType>(input.getType()).getRank() == 2;
      arguments.push_back(e.loadScalar(input, byRow ? Emitter::Values{row, column} : Emitter::Values{column}));
    }
    e.storeScalar(vectorize(e, op.getEpilogue().front(), arguments)[0], op.getInit(), {row, column});
  }

  WorkgroupEmitter &e;
  kernel::ContractOp op;
  kernel::TasksOp tasks;
  const Sizes sizes;
  Value own, lane;         // the subgroup, and the thread in it
  Value group, inGroup;    // group g has row g; twice the place in the group
  Emitter::Values panels;  // of the task
  Value feature, sums;     // the first feature that the panels meet
  Emitter::Values rows;    // of the thread: g and g + 8 of every tile
};

}  // namespace

// Of single numbers of 16 bits, which are types of MLIR.
bool takesMatrices(kernel::ContractOp op) {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  const StorageFormat *format = formatOf(weight.getElementType());
  const int64_t step = tileDepth * std::max<int64_t>(kernel::partialSumsOf(op), 1);
  return isa<FloatType>(weight.getElementType()) && format->bytesOf(1) == 2 && weight.getDimSize(1) % step == 0;
}

int64_t threadsOfMatrices(kernel::ContractOp op) {
  return Sizes(op).kParts * subgroup;
}

void expandByMatrices(WorkgroupEmitter &e, kernel::ContractOp op) {
  MatrixContract(e, op).expand();
}

}  // namespace talc
