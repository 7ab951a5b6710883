// SPDX-License-Identifier: Apache-2.0
// Weights that checkpoints have as levels and scales, from the definition of #talc.quantized.
#pragma once

#include "compiler/reference/Tensors.h"
#include "dialects/talc/TalcDialect.h"

#include "llvm/Support/Error.h"

#include <string>

namespace talc::reference {

llvm::Expected<Weight> readQuantized(const std::string &name, llvm::StringRef directory, QuantizedSourceAttr source,
                                     mlir::RankedTensorType type);

}  // namespace talc::reference
