// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.memory, which all targets share.
#pragma once

#include "compiler/passes/schedule/Emitter.h"

namespace talc {

// Vectors of a row of the matrix that are in registers at a time, together with a broadcast.
constexpr int64_t memoryVectorsAtOnce = 4;

void expandMemory(Emitter &e, kernel::MemoryOp op);

}  // namespace talc
