// SPDX-License-Identifier: Apache-2.0
// --calibrate: gives the compiler a text with a runtime to read it, or an importance matrix.
#pragma once

#include "compiler/quantize/CalibrationOptions.h"
#include "tools/talc/CompileOptions.h"
#include "tools/talc/ModelInput.h"

namespace talc::tools {

// No calibration without --calibrate. Fails if an importance matrix cannot be read.
llvm::Expected<CalibrationOptions> calibrationOptions(const CompileOptions &options);

// Loads a model and, with --calibrate, calibrates it.
llvm::Expected<ModelInput> loadCalibrated(const CompileOptions &options, mlir::MLIRContext &context);

}  // namespace talc::tools
