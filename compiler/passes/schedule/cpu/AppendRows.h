// SPDX-License-Identifier: Apache-2.0
// The loops of kernel.append.
#pragma once

#include "dialects/kernel/KernelDialect.h"

namespace talc {

void expandAppend(mlir::OpBuilder &builder, kernel::AppendOp op, int64_t lanes);

}  // namespace talc
