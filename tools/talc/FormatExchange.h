// SPDX-License-Identifier: Apache-2.0
// Which formats change predictions least, together.
#pragma once

#include "tools/talc/Divergence.h"

namespace talc::tools {

// Gives units of matrices formats (format) that keep to the size of options.weights: what choose-formats would
// choose, or one format for all, whichever changes predictions less; and in small models better ones, found by
// exchange.
llvm::Error exchangeFormats(const ModelInput &input, const CompileOptions &options, const Divergence &divergence);

}  // namespace talc::tools
