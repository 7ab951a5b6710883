// SPDX-License-Identifier: Apache-2.0
// The JSON in an artifact that tells people and tools what it was made from.
#pragma once

#include "compiler/artifact/WeightStream.h"
#include "compiler/targets/Target.h"

namespace talc {

// `spills`: registers that a kernel spills, by the kernel's name.
std::string makeManifest(mlir::ModuleOp module, llvm::ArrayRef<PlacedWeight> weights, const targets::Target &target,
                         const llvm::StringMap<int64_t> &spills);

}  // namespace talc
