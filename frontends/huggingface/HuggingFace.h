// SPDX-License-Identifier: Apache-2.0
// Imports a Hugging Face model directory: config.json, generation_config.json and safetensors files.
#pragma once

#include "frontends/Frontends.h"

namespace talc {

// Any directory.
bool isHuggingFace(const std::string &model);

// Random weights need no more than config.json.
mlir::OwningOpRef<mlir::ModuleOp> importHuggingFace(const std::string &model, const ImportOptions &options,
                                                    mlir::MLIRContext &context, Diagnostics &diagnostics);

// Whether a file lies in the directory and is of a kind that models consist of.
bool isHuggingFaceFile(const std::string &model, const std::string &file);

}  // namespace talc
