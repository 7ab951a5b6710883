// SPDX-License-Identifier: Apache-2.0
// Matmuls of bf16 by bf16, by the tile instructions of AMX.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/Epilogue.h"

namespace talc {

// Why AMX cannot multiply the op's operands as bf16; empty: it can.
std::string whyNotAmxBf16(kernel::MatmulOp op, const IsaTraits &traits);

// Replaces the body of the tasks by loops; the op is left to be erased.
void expandAmxBf16(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op);

}  // namespace talc
