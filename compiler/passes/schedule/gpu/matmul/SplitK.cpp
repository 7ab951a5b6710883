// SPDX-License-Identifier: Apache-2.0
// split-k: the parts of k of a single row's contraction become tasks of their own.
//
//   kernel.matmul %x, %w inputs(%bias) into %y { epilogue }
//     ->  kernel.matmul %x, %w into %parts split_k 4        [4, columns]
//         linalg.generic ins(%parts[0], ..., %parts[3], %bias) outs(%y) { epilogue of their sum }
//
// The sum is a piece like others: a barrier stands before it, and workgroups share its columns.
#include "compiler/passes/PassRemarks.h"
#include "compiler/passes/Passes.h"
#include "compiler/passes/schedule/gpu/matmul/SplitKPlan.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/FormatVariadic.h"

namespace talc {
#define GEN_PASS_DEF_SPLITK
#include "compiler/passes/Passes.h.inc"
}  // namespace talc

using namespace mlir;
namespace kernel = talc::kernel;
using talc::SplitKPlan;

constexpr talc::PassRemarks remarks("bufferize", "split-k");

// With more tasks than multiprocessors a barrier would cost more than it brings.
constexpr int64_t manyTasks = 128;

static bool hasOneRow(kernel::MatmulOp op) {
  return cast<ShapedType>(op.getX().getType()).getDimSize(0) == 1 &&
         cast<ShapedType>(op.getInit().getType()).hasStaticShape();
}

// Why the parts stay together; empty: they do not.
static StringRef reasonAgainst(kernel::MatmulOp op, const SplitKPlan &parts) {
  if (parts.tasks >= manyTasks)
    return "its panels are tasks enough";
  if (parts.count == 1 || op.getGated() || op.getGroups() > 1)
    return "k is not divided";
  return "";
}

// The first columns of a vector that may have more.
static Value firstOf(OpBuilder &b, Location loc, Value input, int64_t columns) {
  auto type = cast<MemRefType>(input.getType());
  if (type.getRank() == 2 || type.getDimSize(0) == columns)
    return input;
  SmallVector<OpFoldResult> zero = {b.getIndexAttr(0)}, size = {b.getIndexAttr(columns)}, one = {b.getIndexAttr(1)};
  return memref::SubViewOp::create(b, loc, input, zero, size, one);
}

static void makeParts(OpBuilder &b, kernel::MatmulOp op, Value buffer, int64_t count) {
  auto sums = kernel::MatmulOp::create(b, op.getLoc(), TypeRange(), op.getStep(), op.getX(), op.getWeight(),
                                       ValueRange(), buffer, /*gated=*/false, /*groups=*/1, count);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&sums.getEpilogue(), {}, {b.getF32Type()}, {op.getLoc()});
  kernel::YieldOp::create(b, op.getLoc(), block->getArguments());
}

// Writes what the contraction would have written.
static void makeSum(OpBuilder &b, kernel::MatmulOp op, Value buffer, const SplitKPlan &parts) {
  Location loc = op.getLoc();
  int64_t columns = cast<ShapedType>(op.getInit().getType()).getDimSize(1);
  SmallVector<Value> inputs;
  for (int64_t part = 0; part < parts.count; ++part) {
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(part), b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1), b.getIndexAttr(columns)}, ones(2, b.getIndexAttr(1));
    inputs.push_back(memref::SubViewOp::create(b, loc, buffer, offsets, sizes, ones));
  }
  for (Value input : op.getInputs())
    inputs.push_back(firstOf(b, loc, input, columns));
  AffineMap rows = b.getMultiDimIdentityMap(2), vector = AffineMap::get(2, 0, b.getAffineDimExpr(1));
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(cast<MemRefType>(input.getType()).getRank() == 2 ? rows : vector);
  maps.push_back(rows);
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  linalg::GenericOp::create(b, loc, inputs, op.getInit(), maps, iterators,
                            [&](OpBuilder &inside, Location, ValueRange arguments) {
                              SmallVector<Value> values(arguments.take_front(parts.count));
                              SmallVector<Value> known = {parts.sum(inside, loc, values)};
                              llvm::append_range(known, arguments.drop_front(parts.count).drop_back());
                              IRMapping mapping;
                              Block &epilogue = op.getEpilogue().front();
                              mapping.map(epilogue.getArguments(), known);
                              for (Operation &inner : epilogue.without_terminator())
                                inside.clone(inner, mapping);
                              Value result = epilogue.getTerminator()->getOperand(0);
                              linalg::YieldOp::create(inside, loc, mapping.lookupOrDefault(result));
                            });
}

static void split(kernel::MatmulOp op, const SplitKPlan &parts) {
  OpBuilder b(op);
  int64_t columns = cast<ShapedType>(op.getInit().getType()).getDimSize(1);
  Value buffer = memref::AllocOp::create(b, op.getLoc(), MemRefType::get({parts.count, columns}, b.getF32Type()));
  makeParts(b, op, buffer, parts.count);
  makeSum(b, op, buffer, parts);
  op.erase();
}

namespace {

struct SplitK : talc::impl::SplitKBase<SplitK> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<kernel::MatmulOp> ops;
    getOperation().walk([&](kernel::MatmulOp op) { ops.push_back(op); });
    for (kernel::MatmulOp op : ops) {
      if (!hasOneRow(op) || op.getSplitK() > 1)
        continue;
      const SplitKPlan parts(op, matrices);
      if (StringRef reason = reasonAgainst(op, parts); !reason.empty()) {
        remarks.declined(op, [&] { return ("the parts of k stay together: " + reason).str(); });
        continue;
      }
      remarks.did(op, [&] {
        return llvm::formatv("{0} parts of k are tasks of their own, {1} instead of {2}", parts.count,
                             parts.count * parts.tasks, parts.tasks);
      });
      split(op, parts);
    }
  }
};

}  // namespace
