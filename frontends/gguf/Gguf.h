// SPDX-License-Identifier: Apache-2.0
// Imports a GGUF file, or the parts of one that was split.
#pragma once

#include "frontends/Frontends.h"

namespace talc {

// A file that is called .gguf or begins as one.
bool isGguf(const std::string &model);

// Random weights need no more than metadata and the names of tensors.
mlir::OwningOpRef<mlir::ModuleOp> importGguf(const std::string &model, const ImportOptions &options,
                                             mlir::MLIRContext &context, Diagnostics &diagnostics);

// From the metadata; empty if they have none.
std::optional<std::vector<uint8_t>> compileGgufTokenizer(const std::string &model, std::string &error);

// Whether a file is one of its parts.
bool isGgufFile(const std::string &model, const std::string &file);

}  // namespace talc
