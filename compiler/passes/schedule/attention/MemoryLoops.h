// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.memory, in vectors of any machine.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Of a row of the matrix, beside which there is a broadcast.
constexpr int64_t memoryVectorsAtOnce = 4;

void expandMemory(Emitter &e, kernel::MemoryOp op);

}  // namespace talc
