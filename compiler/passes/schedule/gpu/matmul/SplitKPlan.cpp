// SPDX-License-Identifier: Apache-2.0
// How many parts there are, and in which order they are added.
#include "compiler/passes/schedule/gpu/matmul/SplitKPlan.h"

#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"

using namespace mlir;

namespace talc {

namespace {

// Of k, which parts consist of: the depth of a matrix instruction.
constexpr int64_t stepDepth = 16;
// What has a GPU of some hundred multiprocessors busy: threads, each with a chain of its own.
constexpr int64_t manyThreads = 1 << 15;

// How k may be divided.
struct Limits {
  int64_t parts;  // at most
  int64_t steps;  // a part of no more is not divided again
};

}  // namespace

// Subgroups of a workgroup have a part each, which is as many sums for its shared memory: adding those of a part takes
// as many requests as 16 steps of it. Chains of multiply-adds cost nothing; those with gates are side by side in a
// workgroup.
SplitKPlan::SplitKPlan(kernel::MatmulOp op, bool matrices) : byHalves(matrices && obstacleToMatrices(op).empty()) {
  const PanelShape panels(op);
  const int64_t columns = panels.count * panels.lanes;
  tasks = llvm::divideCeil(columns, 128);
  const Limits limits = byHalves            ? Limits{4, 24}
                        : panels.groups > 1 ? Limits{1, 3}
                        : op.getGated()     ? Limits{8, 3}
                                            : Limits{16, 3};
  int64_t steps = panels.depth % stepDepth == 0 ? panels.depth / stepDepth : 1;
  while (count < limits.parts && steps % 2 == 0 && steps > limits.steps &&
         (byHalves || count * columns < manyThreads)) {
    count *= 2;
    steps /= 2;
  }
  if (auto given = static_cast<int64_t>(op.getSplitK()); given > 1)
    count = given;
}

Value SplitKPlan::sum(OpBuilder &b, Location loc, ArrayRef<Value> values) const {
  if (!byHalves) {
    Value sum = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    for (Value value : values)
      sum = arith::AddFOp::create(b, loc, sum, value);
    return sum;
  }
  SmallVector<Value> sums(values);
  for (size_t half = sums.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i)
      sums[i] = arith::AddFOp::create(b, loc, sums[i], sums[i + half]);
  return sums.front();
}

}  // namespace talc
