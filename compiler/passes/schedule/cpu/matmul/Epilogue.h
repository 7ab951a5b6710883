// SPDX-License-Identifier: Apache-2.0
// The end of a contraction: what its epilogue makes of the sums goes to the result.
#pragma once

#include "compiler/passes/schedule/cpu/matmul/MatmulTile.h"

namespace talc {

// A contraction that ends so.
MatmulContext makeMatmulContext(Emitter &e, kernel::TasksOp tasks, kernel::MatmulOp op);

}  // namespace talc
