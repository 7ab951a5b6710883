// SPDX-License-Identifier: Apache-2.0
// Imports a Hugging Face model directory: config.json, generation_config.json and safetensors files.
#pragma once

#include "frontends/Diagnostics.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <cstdint>
#include <optional>
#include <string>

namespace talc {

struct HuggingFaceOptions {
  int64_t maxSequence = 0;             // tokens that a sequence may have; 0: as many as the model was made for
  std::optional<uint64_t> randomSeed;  // random weights, so that the directory need hold no more than config.json
};

// The model as a module of the talc dialect. Null if there were errors, which are in `diagnostics`; warnings are in any
// case.
mlir::OwningOpRef<mlir::ModuleOp> importHuggingFace(const std::string &path, const HuggingFaceOptions &options,
                                                    mlir::MLIRContext &context, Diagnostics &diagnostics);

}  // namespace talc
