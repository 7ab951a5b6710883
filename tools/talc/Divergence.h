// SPDX-License-Identifier: Apache-2.0
// Which matrices matter to predictions: each is rounded alone, and the model reads a text.
#pragma once

#include "tools/talc/CompileOptions.h"
#include "tools/talc/ModelInput.h"

#include "llvm/Support/Error.h"

namespace talc::tools {

// Notes at matrices how far predictions diverge from those of the model as it is once they are rounded
// (talc.divergence). Squared errors of products do not say that: the same error in the table of embeddings, of which
// everything else is made, changes predictions many times as much as in the last layer.
llvm::Error noteDivergences(const ModelInput &input, const CompileOptions &options);

}  // namespace talc::tools
