// SPDX-License-Identifier: Apache-2.0
// What features count: their mean squares as a model reads a text.
#pragma once

#include "tools/talc/CompileOptions.h"
#include "tools/talc/ModelInput.h"

#include "llvm/Support/Error.h"

namespace talc::tools {

// Notes them at the matrices that multiply them (importance), and the formats that change predictions least
// (format). Programs that return what layers multiply and predict are compiled for this machine, and read
// options.calibrate in windows.
llvm::Error calibrate(const ModelInput &input, const CompileOptions &options);

// loadModel, and calibrate if that is asked for.
llvm::Expected<ModelInput> loadCalibrated(const CompileOptions &options, mlir::MLIRContext &context);

}  // namespace talc::tools
