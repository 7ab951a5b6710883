// SPDX-License-Identifier: Apache-2.0
// The epilogue of a matmul, and the context of a matmul that ends with it.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

// The context of an op's loops, whose results its epilogue makes of the sums.
MatmulContext makeMatmulContext(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op);

}  // namespace talc
