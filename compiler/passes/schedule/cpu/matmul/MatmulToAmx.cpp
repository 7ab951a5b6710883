// SPDX-License-Identifier: Apache-2.0
// matmul-to-amx: contractions whose operands are both of bf16, by the matrix registers of AMX.
//
//   for each panel of the task
//     for each block of k, of up to 8 steps of 32
//       panel in pairs of k, on the stack:      k, k + 1  ->  a b c ... and d e f ...  ->  a d  b e  c f ...
//       for each 16 rows
//         C (16 x 16, one for each 16 columns); for each step of k: one A (16 rows x 32), a B for each C; C += A * B
//     epilogue of the sums, store
//
// A product of registers (tdpbf16ps) takes 16 cycles, a load of one 8: a step of four products and five loads is bound
// by the products, 512 multiply-adds a cycle where vdpbf16ps makes 32 to 64. Pairs are made once for all rows of a
// block: beside the 192 rows of one step, which take 768 cycles, 128 instructions of the kind that one port does.
//
// Products of a row do not depend on the rows beside it, but the order in which the processor adds 32 of them is its
// own: the bits are not those of other levels. So the kind of operands decides who is multiplied here and never the
// number of rows, and fewer than 16 rows are filled up. A single row takes as long as 16 do, and makes pairs of 32
// bytes of the weight a cycle: some times what a core gets from memory.
//
// Sums of integers are exact, so that a few rows of them may go another way than many: contractions of these are only
// marked, for expand-matmul (AmxInt8.cpp).
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/cpu/matmul/AmxInt8.h"
#include "compiler/passes/schedule/cpu/matmul/Epilogue.h"
#include "compiler/passes/schedule/cpu/matmul/Prefetch.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_MATMULTOAMX
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
using namespace talc;

namespace {

constexpr PassRemarks remarks("schedule", "matmul-to-amx");

// Of the registers: rows and columns of C, k of A and B. A panel has 64 columns at most: four C, and an A and a B
// beside them have six registers of eight.
constexpr int64_t side = 16, stepDepth = 32;
constexpr int64_t blockSteps = 8;  // of a panel 32 KiB, which stay in L1
constexpr int64_t blockDepth = blockSteps * stepDepth;
constexpr int64_t mostRows = 192;

// Why the registers do not take a contraction; empty: they do.
std::string refused(kernel::MatmulOp op, int64_t lanes) {
  MatmulShape shape = MatmulShape::of(op);
  if (&selectMicrokernel(shape.x, shape.weight, lanes) != &bf16Microkernel)
    return "the operands are neither pairs of bf16 nor integers in blocks of 32";
  if (int64_t depth = shape.weight.getDimSize(1); depth % stepDepth != 0)
    return llvm::formatv("a depth of {0} is no multiple of {1}", depth, stepDepth);
  return "";
}

class Products {
public:
  Products(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op)
      : c(makeMatmulContext(e, tasks, op)), op(op), plan(c.plan), e(e), tasks(tasks), columns(plan.panelLanes / side),
        rowsOfBlock(llvm::alignTo(std::min(plan.blockRows, mostRows), side)) {}

  void expand() {
    // In front of the tasks, so that the stack belongs to the function's frame. Of rows that fill up others there are
    // sums, too.
    sums = e.stackBuffer({rowsOfBlock, plan.panelLanes});
    pairs = buffer({blockSteps, columns, side, stepDepth});
    filled = buffer({blockSteps, side, stepDepth});
    tasks.getExtentsMutable().assign({e.rows(c.x), e.index(plan.panels)});
    tasks.setGrain({rowsOfBlock, plan.taskPanels});
    e.b.setInsertionPoint(op);
    e.loop(tasks.part(0), tasks.part(1), rowsOfBlock, [&](Value first) {
      Value rows = e.min(e.index(rowsOfBlock), e.sub(tasks.part(1), first));
      e.loop(tasks.part(2), tasks.part(3), 1, [&](Value panel) { multiply({first, rows}, panel); });
    });
  }

private:
  struct Rows {
    Value first, count;
  };
  // Steps of k from `first` on; x has its features from `feature` on.
  struct Block {
    Value first, feature, steps;
  };

  Value buffer(ArrayRef<int64_t> shape) {
    return memref::AllocaOp::create(e.b, e.loc, MemRefType::get(shape, e.b.getBF16Type()), e.b.getI64IntegerAttr(64));
  }

  void multiply(const Rows &rows, Value panel) {
    Value feature = plan.groups > 1 ? e.mul(plan.groupOf(e, panel), plan.groupFeatures) : e.index(0);
    e.loop(e.index(0), e.index(plan.depth), blockDepth, [&](Value k) {
      Value left = e.div(e.sub(e.index(plan.depth), k), stepDepth);
      Block block = {k, e.add(feature, k), e.min(e.index(blockSteps), left)};
      makePairs(panel, block);
      multiply(rows, block);
    });
    c.finish(c, {sums, rows.first, panel}, rows.count, e.index(1), panel);
  }

  // B of each step and 16 columns.
  void makePairs(Value panel, const Block &block) {
    TilePrefetch fetch = plan.fetchAhead > 0 ? prefetchStreams(c, 1, panel, plan.fetchAhead) : nullptr;
    e.loop(e.index(0), block.steps, 1, [&](Value step) {
      e.loop(e.index(0), e.index(side), 1, [&](Value pair) {
        Value k = e.add(block.first, e.add(e.mul(step, stepDepth), e.mul(pair, 2)));
        if (fetch)
          fetch({}, k, {});
        for (int64_t column = 0; column < columns; ++column)
          vector::StoreOp::create(e.b, e.loc, pairOf(panel, k, column), pairs,
                                  ValueRange{step, e.index(column), pair, e.index(0)});
      });
    });
  }

  // A word has the first k below, the second one above.
  Value pairOf(Value panel, Value k, int64_t column) {
    auto words = VectorType::get({side}, e.b.getI32Type());
    auto line = [&](Value k) -> Value {
      Value at[] = {panel, k, e.index(column * side)};
      Value numbers = vector::LoadOp::create(e.b, e.loc, words.clone(e.b.getBF16Type()), c.weight, at);
      Value bits = vector::BitCastOp::create(e.b, e.loc, words.clone(e.b.getI16Type()), numbers);
      return arith::ExtUIOp::create(e.b, e.loc, words, bits);
    };
    Value half = arith::ConstantOp::create(e.b, e.loc, DenseIntElementsAttr::get(words, int32_t{16}));
    Value below = line(k), above = arith::ShLIOp::create(e.b, e.loc, line(e.add(k, 1)), half);
    auto type = VectorType::get({2 * side}, e.b.getBF16Type());
    return vector::BitCastOp::create(e.b, e.loc, type, arith::OrIOp::create(e.b, e.loc, below, above));
  }

  void multiply(const Rows &rows, const Block &block) {
    Value whole = e.mul(e.div(rows.count, side), side), rest = e.sub(rows.count, whole);
    e.loop(e.index(0), whole, side, [&](Value row) {
      multiply(row, block, [&](Value step) {
        Emitter::Values at = {e.add(rows.first, row), e.add(block.feature, e.mul(step, stepDepth))};
        return loadedPairs(c.x, at);
      });
    });
    e.when(e.less(e.index(0), rest), [&] {
      fillUp(e.add(rows.first, whole), rest, block);
      multiply(whole, block, [&](Value step) { return loadedPairs(filled, {step, e.index(0), e.index(0)}); });
    });
  }

  // A of fewer rows, since what lies behind them may be nobody's. Sums of the others are never read.
  void fillUp(Value first, Value count, const Block &block) {
    auto type = VectorType::get({stepDepth}, e.b.getBF16Type());
    e.loop(e.index(0), block.steps, 1, [&](Value step) {
      e.loop(e.index(0), count, 1, [&](Value row) {
        Value at[] = {e.add(first, row), e.add(block.feature, e.mul(step, stepDepth))};
        Value x = vector::LoadOp::create(e.b, e.loc, type, c.x, at);
        vector::StoreOp::create(e.b, e.loc, x, filled, ValueRange{step, row, e.index(0)});
      });
    });
  }

  // 16 rows, from `row` of the block on.
  void multiply(Value row, const Block &block, llvm::function_ref<Value(Value)> rowsOfStep) {
    Emitter::Values after =
        e.loop(e.index(0), block.steps, 1, sumsBefore(row, block), [&](Value step, ValueRange carried) {
          Value x = rowsOfStep(step);
          Emitter::Values result;
          for (auto [column, sum] : llvm::enumerate(carried)) {
            Value at[] = {step, e.index(static_cast<int64_t>(column)), e.index(0), e.index(0)};
            Value weight = loadedPairs(pairs, at);
            result.push_back(amx::TileMulFOp::create(e.b, e.loc, sum.getType(), x, weight, sum));
          }
          return result;
        });
    for (auto [column, sum] : llvm::enumerate(after))
      amx::TileStoreOp::create(e.b, e.loc, sums, placeOf(row, column), sum);
  }

  // Zero in front of the first k.
  Emitter::Values sumsBefore(Value row, const Block &block) {
    SmallVector<Type> types(columns, amx::TileType::get({side, side}, e.b.getF32Type()));
    auto begins = scf::IfOp::create(e.b, e.loc, types, e.less(block.first, e.index(1)), /*withElseRegion=*/true);
    auto yield = [&](mlir::Block *where, llvm::function_ref<Value(int64_t)> sum) {
      OpBuilder::InsertionGuard guard(e.b);
      e.b.setInsertionPointToStart(where);
      Emitter::Values all;
      for (int64_t column = 0; column < columns; ++column)
        all.push_back(sum(column));
      scf::YieldOp::create(e.b, e.loc, all);
    };
    yield(begins.thenBlock(), [&](int64_t) -> Value { return amx::TileZeroOp::create(e.b, e.loc, types[0]); });
    yield(begins.elseBlock(),
          [&](int64_t column) { return amx::TileLoadOp::create(e.b, e.loc, types[0], sums, placeOf(row, column)); });
    return begins.getResults();
  }

  // Of 16 rows of 64 bytes.
  Value loadedPairs(Value memory, ValueRange at) {
    auto type = amx::TileType::get({side, stepDepth}, e.b.getBF16Type());
    return amx::TileLoadOp::create(e.b, e.loc, type, memory, at);
  }

  Emitter::Values placeOf(Value row, int64_t column) { return {row, e.index(column * side)}; }

  const MatmulContext c;
  kernel::MatmulOp op;
  const MatmulPlan &plan;
  Emitter &e;
  kernel::TasksOp tasks;
  const int64_t columns, rowsOfBlock;
  Value sums, pairs, filled;
};

struct MatmulToAmx : talc::impl::MatmulToAmxBase<MatmulToAmx> {
  using Base::Base;
  void runOnOperation() override {
    if (!isValidWidth(getOperation(), lanes))
      return signalPassFailure();
    SmallVector<kernel::MatmulOp> contracts;
    getOperation().walk([&](kernel::MatmulOp op) { contracts.push_back(op); });
    for (kernel::MatmulOp op : contracts)
      if (failed(visit(op)))
        return signalPassFailure();
  }

  LogicalResult visit(kernel::MatmulOp op) {
    if (takesIntegers(MatmulShape::of(op), lanes)) {
      op->setAttr(useAmxAttr, UnitAttr::get(&getContext()));
      remarks.did(op, [&] { return "many rows: 16 at a time, a group of integers that share a step"; });
      return success();
    }
    if (std::string why = refused(op, lanes); !why.empty()) {
      remarks.declined(op, [&] { return why; });
      return success();
    }
    kernel::TasksOp tasks = getPlannedTasks(op);
    if (!tasks)
      return failure();
    OpBuilder builder(tasks);
    Emitter emitter(builder, op.getLoc(), lanes);
    Products(emitter, tasks, op).expand();
    remarks.did(op, [&] { return "16 rows at a time, 32 k of bf16"; });
    op.erase();
    return success();
  }
};

}  // namespace
