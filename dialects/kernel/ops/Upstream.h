// SPDX-License-Identifier: Apache-2.0
// Makes ops of upstream dialects compute ops.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace talc::kernel {

void registerUpstreamComputeOps(mlir::DialectRegistry &registry);

}  // namespace talc::kernel
