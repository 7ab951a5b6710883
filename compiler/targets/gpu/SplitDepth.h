// SPDX-License-Identifier: Apache-2.0
// Shares the contractions of a single row among more workgroups than they have panels for.
#pragma once

#include "mlir/Pass/Pass.h"

#include <memory>

namespace talc::gpu {

// Stage bufferize, before tasks are dealt out. `matrices`: as of expand-workgroups.
std::unique_ptr<mlir::Pass> createSplitDepth(bool matrices);

}  // namespace talc::gpu
