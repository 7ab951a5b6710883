// SPDX-License-Identifier: Apache-2.0
// C++ classes of RecurrenceOps.td, which only passes that lower, place and expand ops with states need.
//
// Such an op is a step of talc/RecurrenceOps.h on buffers. Columns of a state do not meet: those of a key's sum are
// chains of their own. So the work is divided among workers by sequence, by head and by block of columns
// (#kernel.columns), and the tasks are numbered in this order:
//
//   task = (sequence * heads + head) * blocks + block
//
// A task alone reads and writes its block of the state, in every step. Its tokens follow each other, so that a step
// with few sequences and narrow heads has few tasks, however many tokens it has.
//
// The state of a slot is cleared by the tasks themselves, where the first token of a sequence has the position 0, so
// that slots that were reset need no other step.
//
// Another op finds what it wrote behind a barrier only, since other ops divide heads in other ways (insert-barriers).
//
// The costs count the state twice, as a step of few tokens reads and writes it once.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc::kernel {

// The effects of an op that writes a state and its init, and reads its other operands.
void addStateEffects(mlir::Operation *op, mlir::OpOperand &state, ComputeOpEffects &effects);

}  // namespace talc::kernel

#define GET_OP_CLASSES
#include "dialects/kernel/RecurrenceOps.h.inc"
