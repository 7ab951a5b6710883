// SPDX-License-Identifier: Apache-2.0
// Says of a program that workgroups run it.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace talc::gpu {

// Stage bufferize, before barriers are placed: workgroups take any task (dialects/kernel/Workers.h).
std::unique_ptr<mlir::Pass> createClaimTasks();

}  // namespace talc::gpu
