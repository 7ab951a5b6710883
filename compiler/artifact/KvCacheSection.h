// SPDX-License-Identifier: Apache-2.0
// Tells the runtime where a slot keeps its tokens, so that it can save and load them.
#pragma once

#include "runtime/artifact/ArtifactFormat.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace talc {

// The section for the module's states, which plan-memory has placed; empty when there are none.
llvm::Expected<std::vector<artifact::KvRun>> makeKvCacheSection(mlir::ModuleOp module);

}  // namespace talc
