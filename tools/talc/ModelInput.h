// SPDX-License-Identifier: Apache-2.0
// Loads the MODEL of the command line, and calibrates it with --calibrate.
#pragma once

#include "compiler/quantize/CalibrationOptions.h"
#include "tools/talc/CompileOptions.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include "llvm/Support/Error.h"

namespace talc::tools {

struct ModelInput {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<uint8_t> tokenizer;  // a Tokenizer section; empty: none
};

llvm::Expected<ModelInput> loadModel(const CompileOptions &options, mlir::MLIRContext &context);

// ---- Calibration: a text with a runtime to read it, or an importance matrix

// No calibration without --calibrate. Fails if an importance matrix cannot be read.
llvm::Expected<CalibrationOptions> calibrationOptions(const CompileOptions &options);

// Loads a model and, with --calibrate, calibrates it.
llvm::Expected<ModelInput> loadCalibrated(const CompileOptions &options, mlir::MLIRContext &context);

}  // namespace talc::tools
