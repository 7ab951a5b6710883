// SPDX-License-Identifier: Apache-2.0
// split-k: makes the parts of K of a single row's matmul tasks of their own.
//
//   kernel.matmul %x, %w inputs(%bias) into %y { epilogue }
//     ->  kernel.matmul %x, %w into %partials split_k 4        [4, columns]
//         linalg.generic ins(%partials[0], ..., %partials[3], %bias) outs(%y) { epilogue of their sum }
//
// The sum is a compute op of its own: it follows a barrier, and workgroups share its columns.
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

static bool hasOneRow(kernel::MatmulOp op) {
  return cast<ShapedType>(op.getX().getType()).getDimSize(0) == 1 &&
         cast<ShapedType>(op.getInit().getType()).hasStaticShape();
}

// Why K is not split; empty: it is. With more tasks than multiprocessors the additional barrier costs more than it
// gains.
static StringRef findObstacle(kernel::MatmulOp op, const SplitKPlan &plan, const talc::GpuFacts &gpu) {
  if (plan.workgroups >= gpu.multiprocessors)
    return "there are enough tasks without";
  if (plan.count == 1 || op.getGated() || op.getGroups() > 1)
    return "K cannot be divided";
  return "";
}

// The first columns of a vector that may have more.
static Value takeColumns(OpBuilder &b, Location loc, Value input, int64_t columns) {
  auto type = cast<MemRefType>(input.getType());
  if (type.getRank() == 2 || type.getDimSize(0) == columns)
    return input;
  SmallVector<OpFoldResult> zero = {b.getIndexAttr(0)}, size = {b.getIndexAttr(columns)}, one = {b.getIndexAttr(1)};
  return memref::SubViewOp::create(b, loc, input, zero, size, one);
}

static void makePartialSums(OpBuilder &b, kernel::MatmulOp op, Value buffer, int64_t count) {
  auto sums = kernel::MatmulOp::create(b, op.getLoc(), TypeRange(), op.getStep(), op.getX(), op.getWeight(),
                                       ValueRange(), buffer, /*gated=*/false, /*groups=*/1, count);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&sums.getEpilogue(), {}, {b.getF32Type()}, {op.getLoc()});
  kernel::YieldOp::create(b, op.getLoc(), block->getArguments());
}

// Adds the partial sums and applies the epilogue.
static void makeSum(OpBuilder &b, kernel::MatmulOp op, Value buffer, const SplitKPlan &plan) {
  Location loc = op.getLoc();
  int64_t columns = cast<ShapedType>(op.getInit().getType()).getDimSize(1);
  SmallVector<Value> inputs;
  for (int64_t part = 0; part < plan.count; ++part) {
    SmallVector<OpFoldResult> offsets = {b.getIndexAttr(part), b.getIndexAttr(0)};
    SmallVector<OpFoldResult> sizes = {b.getIndexAttr(1), b.getIndexAttr(columns)}, ones(2, b.getIndexAttr(1));
    inputs.push_back(memref::SubViewOp::create(b, loc, buffer, offsets, sizes, ones));
  }
  for (Value input : op.getInputs())
    inputs.push_back(takeColumns(b, loc, input, columns));
  AffineMap rows = b.getMultiDimIdentityMap(2), vector = AffineMap::get(2, 0, b.getAffineDimExpr(1));
  SmallVector<AffineMap> maps;
  for (Value input : inputs)
    maps.push_back(cast<MemRefType>(input.getType()).getRank() == 2 ? rows : vector);
  maps.push_back(rows);
  SmallVector<utils::IteratorType> iterators(2, utils::IteratorType::parallel);
  linalg::GenericOp::create(b, loc, inputs, op.getInit(), maps, iterators,
                            [&](OpBuilder &inside, Location, ValueRange arguments) {
                              SmallVector<Value> values(arguments.take_front(plan.count));
                              SmallVector<Value> epilogueArguments = {plan.sum(inside, loc, values)};
                              llvm::append_range(epilogueArguments, arguments.drop_front(plan.count).drop_back());
                              IRMapping mapping;
                              Block &epilogue = op.getEpilogue().front();
                              mapping.map(epilogue.getArguments(), epilogueArguments);
                              for (Operation &inner : epilogue.without_terminator())
                                inside.clone(inner, mapping);
                              Value result = epilogue.getTerminator()->getOperand(0);
                              linalg::YieldOp::create(inside, loc, mapping.lookupOrDefault(result));
                            });
}

static void split(kernel::MatmulOp op, const SplitKPlan &plan) {
  OpBuilder b(op);
  int64_t columns = cast<ShapedType>(op.getInit().getType()).getDimSize(1);
  Value buffer = memref::AllocOp::create(b, op.getLoc(), MemRefType::get({plan.count, columns}, b.getF32Type()));
  makePartialSums(b, op, buffer, plan.count);
  makeSum(b, op, buffer, plan);
  op.erase();
}

namespace {

struct SplitK : talc::impl::SplitKBase<SplitK> {
  using Base::Base;

  void runOnOperation() override {
    FailureOr<talc::GpuFacts> facts = talc::getGpuFacts(getOperation(), gpu, mma);
    if (failed(facts))
      return signalPassFailure();
    SmallVector<kernel::MatmulOp> ops;
    getOperation().walk([&](kernel::MatmulOp op) { ops.push_back(op); });
    for (kernel::MatmulOp op : ops)
      if (hasOneRow(op) && op.getSplitK() == 1)
        visit(op, *facts);
  }

  static void visit(kernel::MatmulOp op, const talc::GpuFacts &facts) {
    const SplitKPlan plan(op, facts);
    if (StringRef obstacle = findObstacle(op, plan, facts); !obstacle.empty()) {
      remarks.declined(op, [&] { return ("K is not split: " + obstacle).str(); });
      return;
    }
    remarks.did(op, [&] {
      return llvm::formatv("split-K in {0} parts, which are {1} tasks instead of {2}", plan.count,
                           plan.count * plan.workgroups, plan.workgroups);
    });
    split(op, plan);
  }
};

}  // namespace
