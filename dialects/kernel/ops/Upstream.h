// SPDX-License-Identifier: Apache-2.0
// The pieces that are ops of upstream's dialects.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace talc::kernel {

void registerUpstreamComputeOps(mlir::DialectRegistry &registry);

}  // namespace talc::kernel
