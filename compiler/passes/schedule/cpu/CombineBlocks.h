// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.combine.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc {

void expandCombine(mlir::OpBuilder &builder, kernel::CombineOp op, int64_t lanes);

}  // namespace talc
