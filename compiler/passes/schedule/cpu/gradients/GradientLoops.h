// SPDX-License-Identifier: Apache-2.0
// The loops of tasks of backward functions that are not row-wise, in vectors. Tasks have one argument, their index.
//
//   linear_wgrad     for tiles of the buffer: load sums; for t ascending: sums += gradient[t, n] * x[t, k]; store sums
//   sum_rows         for a vector of columns: the same with sums += gradient[t, n]
//   scatter_add      for a vector of columns: for t ascending: buffer[index(t), n] += gradient[t, n]
//   attention_dgrad  for sequences, heads of a group, queries: two passes over the keys that the query sees
//
// Sums over tokens are never divided.
#pragma once

#include "compiler/passes/schedule/Emitter.h"
#include "dialects/kernel/gradients/GradientOps.h"

namespace talc {

// Sets the number of tasks around an op; it does not depend on the step.
void setTaskCount(Emitter &e, mlir::Operation *op, int64_t count);

// Tiles of the buffer, whose sums stay in registers while the tokens go by. A task has some rows of tiles.
void expandLinearWgrad(Emitter &e, kernel::LinearWgradOp op);

// A task has the columns of a vector.
void expandSumRows(Emitter &e, kernel::SumRowsOp op);
void expandScatterAdd(Emitter &e, kernel::ScatterAddOp op);

// A task has a key-value head, with the queries that share it, of all sequences. (AttentionGradientLoops.cpp)
void expandAttentionDgrad(Emitter &e, kernel::AttentionDgradOp op);

}  // namespace talc
