// SPDX-License-Identifier: Apache-2.0
// Decides the number of split-K parts, and adds their sums.
#include "compiler/passes/schedule/gpu/matmul/SplitKPlan.h"

#include "compiler/passes/schedule/gpu/matmul/PanelShape.h"

using namespace mlir;

namespace talc {

namespace {

// K is divided in multiples of this, the K of an MMA.
constexpr int64_t stepK = 16;
// Threads with chains of sums of their own that keep a multiprocessor busy.
constexpr int64_t threadsPerMultiprocessor = 256;

struct Limits {
  int64_t parts;     // at most
  int64_t minSteps;  // a part with no more steps is not divided further
};

}  // namespace

// With MMA each subgroup of a workgroup has a part, and each part needs its sums in shared memory: adding a part costs
// as many requests as 16 of its steps. Chains of FMAs cost nothing; those of gated matmuls are in one workgroup.
SplitKPlan::SplitKPlan(kernel::MatmulOp op, const GpuFacts &gpu) : asTree(usesMma(op, gpu)) {
  const PanelShape panels(op);
  const int64_t columns = panels.count * panels.lanes;
  workgroups = llvm::divideCeil(columns, 128);
  const Limits limits = asTree              ? Limits{4, 24}
                        : panels.groups > 1 ? Limits{1, 3}
                        : op.getGated()     ? Limits{8, 3}
                                            : Limits{16, 3};
  int64_t steps = panels.depth % stepK == 0 ? panels.depth / stepK : 1;
  while (count < limits.parts && steps % 2 == 0 && steps > limits.minSteps &&
         (asTree || count * columns < gpu.multiprocessors * threadsPerMultiprocessor)) {
    count *= 2;
    steps /= 2;
  }
  if (auto parts = static_cast<int64_t>(op.getSplitK()); parts > 1)
    count = parts;
}

Value SplitKPlan::sum(OpBuilder &b, Location loc, ArrayRef<Value> partialSums) const {
  if (!asTree) {
    Value sum = arith::ConstantOp::create(b, loc, b.getF32FloatAttr(0));
    for (Value partial : partialSums)
      sum = arith::AddFOp::create(b, loc, sum, partial);
    return sum;
  }
  SmallVector<Value> sums(partialSums);
  for (size_t half = sums.size() / 2; half >= 1; half /= 2)
    for (size_t i = 0; i < half; ++i)
      sums[i] = arith::AddFOp::create(b, loc, sums[i], sums[i + half]);
  return sums.front();
}

}  // namespace talc
