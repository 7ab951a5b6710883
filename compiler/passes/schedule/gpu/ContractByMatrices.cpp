// SPDX-License-Identifier: Apache-2.0
// kernel.contract of 16-bit weights by matrix instructions: a subgroup has a panel and some tiles of 16 rows.
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
// Sums go through shared memory, so that the code of an epilogue exists once. k ascends in steps of 16 whatever the
// rows: those that are missing are the last again, and not stored.
#include "compiler/passes/schedule/gpu/ContractPanels.h"
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
    bool oneRow = cast<MemRefType>(op.getX().getType()).getDimSize(0) == 1;
    tiles = oneRow ? 1 : 2;
    subgroups = std::min<int64_t>(4, llvm::PowerOf2Ceil(count));
  }

  int64_t perThread() const { return columns / tileColumns; }  // neighbouring lanes that a thread loads
  int64_t rows() const { return tiles * tileRows; }

  Type element;
  int64_t tiles, subgroups;  // of a task
};

class MatrixContract {
public:
  MatrixContract(WorkgroupEmitter &e, kernel::ContractOp op)
      : e(e), op(op), tasks(kernel::TasksOp::around(op)), sizes(op) {}

  void expand() {
    setExtents(e, op,
               [&]() -> Emitter::Values {
                 return {e.rows(op.getX()), e.index(sizes.count)};
               },
               {sizes.rows(), sizes.subgroups});
    Value thread = e.thread(), lane = e.rem(thread, subgroup);
    own = e.div(thread, subgroup);
    group = e.div(lane, 4);
    inGroup = e.mul(e.rem(lane, 4), 2);
    panel = e.min(e.add(tasks.part(2), own), e.index(sizes.count - 1));
    feature = sizes.firstFeature(e, panel);
    for (int64_t r = 0; r < 2 * sizes.tiles; ++r)
      rows.push_back(e.min(e.add(e.add(tasks.part(0), group), r * 8), e.sub(tasks.part(1), e.index(1))));
    sums = e.shared({sizes.rows() * sizes.subgroups * sizes.lanes});
    keep(accumulate());
    e.sync();
    finish();
  }

private:
  VectorType vectorOf(ArrayRef<int64_t> shape, Type type) { return VectorType::get(shape, type); }
  int64_t instructions() const { return sizes.parts * sizes.perThread(); }

  // Of tile t, part p and instruction j: sum (t * parts + p) * perThread + j.
  Emitter::Values accumulate() {
    auto type = vectorOf({2, 2}, e.b.getF32Type());
    Value zero = arith::ConstantOp::create(e.b, e.loc, e.b.getZeroAttr(type));
    Emitter::Values zeros(sizes.tiles * instructions(), zero);
    return e.loop(e.index(0), e.index(sizes.depth), tileDepth, zeros, [&](Value k, ValueRange before) {
      Value first = e.add(k, inGroup);
      Emitter::Values weights = loadWeights(first), next;
      for (int64_t t = 0; t < sizes.tiles; ++t) {
        Value factors = loadRows(t, first);
        for (int64_t i = 0; i < instructions(); ++i)
          next.push_back(nvgpu::MmaSyncOp::create(e.b, e.loc, factors, weights[i], before[next.size()],
                                                  ArrayRef<int64_t>{tileRows, tileColumns, tileDepth}));
      }
      return next;
    });
  }

  // `count` neighbours in the last dimension, which begin at a multiple of so many.
  Value loadVector(Value memref, ValueRange at, int64_t count) {
    Type type = cast<MemRefType>(memref.getType()).getElementType();
    int64_t bytes = formatOf(type)->bytesOf(count);
    return vector::LoadOp::create(e.b, e.loc, vectorOf({count}, type), memref, at, /*nontemporal=*/false,
                                  llvm::MaybeAlign(bytes));
  }

  // Fragments B of all instructions: k, k + 1 and k + 8, k + 9 of a column.
  Emitter::Values loadWeights(Value k) {
    Emitter::Values fragments;
    int64_t count = sizes.perThread();
    for (int64_t p = 0; p < sizes.parts; ++p) {
      Value lane = e.add(e.mul(group, count), p * sizes.columns);
      Emitter::Values lines;
      for (int64_t distance : {0, 1, 8, 9})
        lines.push_back(loadVector(op.getWeight(), {panel, e.add(k, distance), lane}, count));
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
    auto [strides, offset] = cast<MemRefType>(op.getX().getType()).getStridesAndOffset();
    auto isEven = [](int64_t value) { return !ShapedType::isDynamic(value) && value % 2 == 0; };
    if (isEven(strides[0]) && isEven(offset) && (sizes.groups == 1 || isEven(sizes.groupFeatures)))
      return loadVector(op.getX(), {row, column}, 2);
    Emitter::Values pair = {e.loadScalar(op.getX(), {row, column}), e.loadScalar(op.getX(), {row, e.add(column, 1)})};
    return vector::FromElementsOp::create(e.b, e.loc, vectorOf({2}, e.b.getF32Type()), pair);
  }

  // Into shared memory, [rows][panels of the task][lanes].
  void keep(ValueRange found) {
    int64_t line = sizes.subgroups * sizes.lanes, count = sizes.perThread();
    for (auto [number, sum] : llvm::enumerate(found)) {
      int64_t tile = number / instructions(), part = number % instructions() / count, j = number % count;
      for (int64_t i = 0; i < 4; ++i) {
        Value row = e.add(group, tile * tileRows + i / 2 * 8), column = e.add(inGroup, i % 2);
        Value lane = e.add(e.mul(column, count), part * sizes.columns + j);
        Value at = e.add(e.mul(row, line), e.add(e.mul(own, sizes.lanes), lane));
        e.storeScalar(vector::ExtractOp::create(e.b, e.loc, sum, ArrayRef<int64_t>{i / 2, i % 2}), sums, {at});
      }
    }
  }

  // The epilogue, a thread taking every n-th column of the task.
  void finish() {
    int64_t line = sizes.subgroups * sizes.columns;
    e.each(sizes.rows() * line, [&](Value number) {
      Value r = e.div(number, line), inTask = e.rem(number, line);
      Value row = e.add(tasks.part(0), r), lane = e.rem(inTask, sizes.columns);
      Value panel = e.add(tasks.part(2), e.div(inTask, sizes.columns));
      Value inside = arith::AndIOp::create(e.b, e.loc, e.less(row, tasks.part(1)), sizes.hasColumn(e, panel, lane));
      e.when(inside, [&] { finish(r, inTask, row, sizes.columnOf(e, panel, lane)); });
    });
  }

  void finish(Value r, Value inTask, Value row, Value column) {
    Value line = e.mul(r, sizes.subgroups * sizes.lanes);
    Value lane = e.add(e.mul(e.div(inTask, sizes.columns), sizes.lanes), e.rem(inTask, sizes.columns));
    Emitter::Values arguments;
    for (int64_t p = 0; p < sizes.parts; ++p)
      arguments.push_back(e.loadScalar(sums, {e.add(line, e.add(lane, p * sizes.columns))}));
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
  Value own, group, inGroup;   // the subgroup; of its threads, group g has row g; twice the place in the group
  Value panel, feature, sums;  // the panel, the first feature that it meets
  Emitter::Values rows;        // of the thread: g and g + 8 of every tile
};

}  // namespace

// Of single numbers of 16 bits, which are types of MLIR.
bool takesMatrices(kernel::ContractOp op) {
  auto weight = cast<MemRefType>(op.getWeight().getType());
  const StorageFormat *format = formatOf(weight.getElementType());
  return isa<FloatType>(weight.getElementType()) && format->bytesOf(1) == 2 && weight.getDimSize(1) % tileDepth == 0;
}

int64_t threadsOfMatrices(kernel::ContractOp op) {
  return Sizes(op).subgroups * subgroup;
}

void expandByMatrices(WorkgroupEmitter &e, kernel::ContractOp op) {
  MatrixContract(e, op).expand();
}

}  // namespace talc
