// SPDX-License-Identifier: Apache-2.0
// The loops of a task of kernel.causal_conv.
//
//   for each vector of the block
//     window = the last k - 1 rows, from the state
//     for each token, in order
//       sum = bias, + weight[j] * window[j] for each j, + weight[k - 1] * x;   result = sum, or its activation
//       window = window[1:], x
//     the state = window
//
// The window stays in registers, so that no token asks where the rows before it are.
#include "compiler/passes/schedule/cpu/recurrence/RecurrenceLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace talc {

// x / (1 + e^-x)
static Value silu(Emitter &e, Value x) {
  Value power = math::ExpOp::create(e.b, e.loc, e.subf(e.splat(0), x));
  return e.divf(x, e.addf(e.splat(1), power));
}

void expandCausalConv(Emitter &e, kernel::CausalConvOp op) {
  RecurrenceTask task(e, op, op.getStep(), op.getState());
  int64_t rows = task.type.getCapacity();
  e.loop(e.index(0), e.index(task.columns), e.lanes, [&](Value column) {
    Value feature = task.columnOfHead(column), mask = task.mask(column);
    Emitter::Values window, weights;
    for (int64_t j = 0; j < rows; ++j)
      window.push_back(task.load(e.index(j), column));
    for (int64_t j = 0; j <= rows; ++j)
      weights.push_back(e.load(op.getWeight(), {e.index(j), feature}, mask));
    Value bias = op.getBias() ? e.load(op.getBias(), {feature}, mask) : e.splat(0);
    window = e.loop(task.firstToken, task.endToken, 1, window, [&](Value token, ValueRange before) {
      Emitter::Values next(before);
      next.push_back(e.load(op.getX(), {token, feature}, mask));
      Value sum = bias;
      for (auto [weight, x] : llvm::zip_equal(weights, next))
        sum = e.fma(weight, x, sum);
      e.store(op.getActivation() ? silu(e, sum) : sum, op.getInit(), {token, feature}, mask);
      next.erase(next.begin());
      return next;
    });
    for (int64_t j = 0; j < rows; ++j)
      task.store(window[j], e.index(j), column);
  });
}

}  // namespace talc
