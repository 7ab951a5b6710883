// SPDX-License-Identifier: Apache-2.0
// Matmuls of bf16 by bf16, by the tile instructions of AMX.
//
//   for each panel of the task
//     for each block of k, of up to 8 steps of 32
//       panel in pairs of k, on the stack:      k, k + 1  ->  a b c ... and d e f ...  ->  a d  b e  c f ...
//       for each 16 rows
//         C (16 x 16, one for each 16 columns); for each step of k: one A (16 rows x 32), a B for each C; C += A * B
//     epilogue of the sums, store
//
// A product (tdpbf16ps) takes 16 cycles, a load of a tile register 8: a step of four products and five loads is bound
// by the products, 512 multiply-adds a cycle where vdpbf16ps makes 32 to 64. Pairs are made once for all rows of a
// block: beside the 192 rows of one step, which take 768 cycles, 128 instructions of the kind that one port does.
//
// Products of a row do not depend on the rows beside it, but the order in which the processor adds 32 of them is its
// own: the bits are not those of other instruction sets. So the kind of operands decides what is multiplied here and
// never the number of rows, and fewer than 16 rows are padded. A single row takes as long as 16 do, and makes pairs of
// 32 bytes of the weight a cycle: some times what a core gets from memory.
#include "compiler/passes/schedule/cpu/matmul/Amx.h"

#include "compiler/passes/schedule/cpu/matmul/Prefetch.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace talc {

namespace {

// Rows and columns of C, k of A and B. A panel has at most 64 columns: four C, and an A and a B beside them take six of
// eight tile registers.
constexpr int64_t side = 16, stepK = 32;
constexpr int64_t blockSteps = 8;  // of a panel 32 KiB, which stay in L1
constexpr int64_t blockK = blockSteps * stepK;
constexpr int64_t maxBlockRows = 192;

class AmxBf16 {
public:
  AmxBf16(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op)
      : c(makeMatmulContext(e, tasks, op)), op(op), plan(c.plan), e(e), tasks(tasks),
        columns(plan.shape.panelLanes / side),
        blockRows(llvm::alignTo(std::min(plan.tunables.blockRows, maxBlockRows), side)) {}

  void expand() {
    // Before the tasks, so that the stack belongs to the function's frame. Padding rows have sums, too.
    sums = e.stackBuffer({blockRows, plan.shape.panelLanes});
    pairs = allocate({blockSteps, columns, side, stepK});
    padded = allocate({blockSteps, side, stepK});
    tasks.getExtentsMutable().assign({e.rows(c.x), e.index(plan.shape.panels)});
    tasks.setGrain({blockRows, plan.tunables.taskPanels});
    e.b.setInsertionPoint(op);
    e.loop(tasks.part(0), tasks.part(1), blockRows, [&](Value first) {
      Value rows = e.min(e.index(blockRows), e.sub(tasks.part(1), first));
      e.loop(tasks.part(2), tasks.part(3), 1, [&](Value panel) { multiply({first, rows}, panel); });
    });
  }

private:
  struct Rows {
    Value first, count;
  };
  // `steps` steps of k, beginning at `first`; x has its features from `feature` on.
  struct Block {
    Value first, feature, steps;
  };

  Value allocate(ArrayRef<int64_t> shape) {
    return memref::AllocaOp::create(e.b, e.loc, MemRefType::get(shape, e.b.getBF16Type()), e.b.getI64IntegerAttr(64));
  }

  void multiply(const Rows &rows, Value panel) {
    const MatmulShape &shape = plan.shape;
    Value feature = shape.groups > 1 ? e.mul(shape.groupIndex(e, panel), shape.groupFeatures) : e.index(0);
    e.loop(e.index(0), e.index(shape.k), blockK, [&](Value k) {
      Value steps = e.div(e.sub(e.index(shape.k), k), stepK);
      Block block = {k, e.add(feature, k), e.min(e.index(blockSteps), steps)};
      makePairs(panel, block);
      multiply(rows, block);
    });
    c.finish(c, {sums, rows.first, panel}, rows.count, e.index(1), panel);
  }

  // B of each step and 16 columns.
  void makePairs(Value panel, const Block &block) {
    int64_t prefetchAhead = plan.tunables.prefetchAhead;
    TilePrefetch prefetch = prefetchAhead > 0 ? prefetchOwnPanels(c, 1, panel, prefetchAhead) : nullptr;
    e.loop(e.index(0), block.steps, 1, [&](Value step) {
      e.loop(e.index(0), e.index(side), 1, [&](Value pair) {
        Value k = e.add(block.first, e.add(e.mul(step, stepK), e.mul(pair, 2)));
        if (prefetch)
          prefetch({}, k, {});
        for (int64_t column = 0; column < columns; ++column)
          vector::StoreOp::create(e.b, e.loc, loadPairs(panel, k, column), pairs,
                                  ValueRange{step, e.index(column), pair, e.index(0)});
      });
    });
  }

  // Words have the first k in their lower half, the second one in the upper half.
  Value loadPairs(Value panel, Value k, int64_t column) {
    auto words = VectorType::get({side}, e.b.getI32Type());
    auto loadColumns = [&](Value k) -> Value {
      Value at[] = {panel, k, e.index(column * side)};
      Value values = vector::LoadOp::create(e.b, e.loc, words.clone(e.b.getBF16Type()), c.weight, at);
      Value bits = vector::BitCastOp::create(e.b, e.loc, words.clone(e.b.getI16Type()), values);
      return arith::ExtUIOp::create(e.b, e.loc, words, bits);
    };
    Value half = arith::ConstantOp::create(e.b, e.loc, DenseIntElementsAttr::get(words, int32_t{16}));
    Value lower = loadColumns(k), upper = arith::ShLIOp::create(e.b, e.loc, loadColumns(e.add(k, 1)), half);
    auto type = VectorType::get({2 * side}, e.b.getBF16Type());
    return vector::BitCastOp::create(e.b, e.loc, type, arith::OrIOp::create(e.b, e.loc, lower, upper));
  }

  void multiply(const Rows &rows, const Block &block) {
    Value wholeTiles = e.mul(e.div(rows.count, side), side), rest = e.sub(rows.count, wholeTiles);
    e.loop(e.index(0), wholeTiles, side, [&](Value row) {
      multiply(row, block, [&](Value step) {
        Emitter::Values at = {e.add(rows.first, row), e.add(block.feature, e.mul(step, stepK))};
        return loadTile(c.x, at);
      });
    });
    e.when(e.less(e.index(0), rest), [&] {
      padRows(e.add(rows.first, wholeTiles), rest, block);
      multiply(wholeTiles, block, [&](Value step) { return loadTile(padded, {step, e.index(0), e.index(0)}); });
    });
  }

  // Copies A of fewer than 16 rows, since what lies after them may belong to nobody. Sums of padding are never read.
  void padRows(Value first, Value count, const Block &block) {
    auto type = VectorType::get({stepK}, e.b.getBF16Type());
    e.loop(e.index(0), block.steps, 1, [&](Value step) {
      e.loop(e.index(0), count, 1, [&](Value row) {
        Value at[] = {e.add(first, row), e.add(block.feature, e.mul(step, stepK))};
        Value x = vector::LoadOp::create(e.b, e.loc, type, c.x, at);
        vector::StoreOp::create(e.b, e.loc, x, padded, ValueRange{step, row, e.index(0)});
      });
    });
  }

  // 16 rows, beginning with `row` of the block.
  void multiply(Value row, const Block &block, llvm::function_ref<Value(Value)> loadA) {
    Emitter::Values results =
        e.loop(e.index(0), block.steps, 1, initialSums(row, block), [&](Value step, ValueRange carried) {
          Value x = loadA(step);
          Emitter::Values result;
          for (auto [column, sum] : llvm::enumerate(carried)) {
            Value at[] = {step, e.index(static_cast<int64_t>(column)), e.index(0), e.index(0)};
            Value weight = loadTile(pairs, at);
            result.push_back(amx::TileMulFOp::create(e.b, e.loc, sum.getType(), x, weight, sum));
          }
          return result;
        });
    for (auto [column, sum] : llvm::enumerate(results))
      amx::TileStoreOp::create(e.b, e.loc, sums, sumIndices(row, column), sum);
  }

  // Zero before the first k.
  Emitter::Values initialSums(Value row, const Block &block) {
    SmallVector<Type> types(columns, amx::TileType::get({side, side}, e.b.getF32Type()));
    auto isFirst = scf::IfOp::create(e.b, e.loc, types, e.less(block.first, e.index(1)), /*withElseRegion=*/true);
    auto yield = [&](mlir::Block *where, llvm::function_ref<Value(int64_t)> sum) {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(where);
      Emitter::Values all;
      for (int64_t column = 0; column < columns; ++column)
        all.push_back(sum(column));
      scf::YieldOp::create(e.b, e.loc, all);
    };
    yield(isFirst.thenBlock(), [&](int64_t) -> Value { return amx::TileZeroOp::create(e.b, e.loc, types[0]); });
    yield(isFirst.elseBlock(),
          [&](int64_t column) { return amx::TileLoadOp::create(e.b, e.loc, types[0], sums, sumIndices(row, column)); });
    return isFirst.getResults();
  }

  // 16 rows of 64 bytes.
  Value loadTile(Value memory, ValueRange at) {
    auto type = amx::TileType::get({side, stepK}, e.b.getBF16Type());
    return amx::TileLoadOp::create(e.b, e.loc, type, memory, at);
  }

  Emitter::Values sumIndices(Value row, int64_t column) { return {row, e.index(column * side)}; }

  const MatmulContext c;
  kernel::MatmulOp op;
  const MatmulPlan &plan;
  Emitter &e;
  kernel::TasksOp tasks;
  const int64_t columns, blockRows;
  Value sums, pairs, padded;
};

}  // namespace

std::string whyNotAmxBf16(kernel::MatmulOp op, const IsaTraits &traits) {
  MatmulShape shape(op);
  if (Microkernel::select(shape.x, shape.weight, traits)->kind != Microkernel::Kind::Bf16)
    return "the operands are neither both bf16 nor integers in blocks of 32";
  if (shape.k % stepK != 0)
    return llvm::formatv("K = {0} is not a multiple of {1}", shape.k, stepK);
  return "";
}

void expandAmxBf16(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op) {
  AmxBf16(e, tasks, op).expand();
}

}  // namespace talc
