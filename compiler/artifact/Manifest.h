// SPDX-License-Identifier: Apache-2.0
// The JSON in an artifact that tells people and tools what it was made from.
#pragma once

#include "compiler/artifact/CodeSection.h"
#include "compiler/artifact/WeightStream.h"

namespace talc {

// `codes`: of all targets, the best first.
std::string makeManifest(mlir::ModuleOp module, llvm::ArrayRef<PlacedWeight> weights,
                         llvm::ArrayRef<CodeSection> codes);

}  // namespace talc
