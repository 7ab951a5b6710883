// SPDX-License-Identifier: Apache-2.0
// Imports a GGUF file, or the parts of one that was split; reads importance matrices.
#pragma once

#include "frontends/Frontends.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

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

//===--- importance matrices ------------------------------------------------------------------------------------===//

// The importance of columns as llama.cpp's imatrix writes it: the mean squares of what a matrix multiplies, over a
// text. By the names that GGUF has for matrices: a number for every column, of experts for every column of each.
using ImportanceTable = std::map<std::string, std::vector<float>>;

// Whether a file is one of these by its first bytes, which no text begins with.
bool isImportanceFile(const std::string &path);

// GGUF files of the type imatrix, and the older ones without a magic number. Nothing if there were errors.
std::optional<ImportanceTable> readImportance(const std::string &path, Diagnostics &diagnostics);

// The numbers of a weight, by the name that its family has for it; empty: none.
std::vector<float> lookupImportance(const ImportanceTable &table, const std::string &weight, int64_t columns);

}  // namespace talc
