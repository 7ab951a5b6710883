// SPDX-License-Identifier: Apache-2.0
// Imports a GGUF file, or the parts of one that was split; reads importance matrices.
#pragma once

#include "frontends/Frontends.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace talc {

// Whether a file has the extension .gguf or the magic number of GGUF.
bool isGguf(const std::string &model);

// Random weights need only the metadata and the names of tensors.
mlir::OwningOpRef<mlir::ModuleOp> importGguf(const std::string &model, const ImportOptions &options,
                                             mlir::MLIRContext &context, Diagnostics &diagnostics);

// Compiles the tokenizer in the metadata; empty if they have none.
std::optional<std::vector<uint8_t>> compileGgufTokenizer(const std::string &model, std::string &error);

// Whether a file is a part of the model.
bool isGgufFile(const std::string &model, const std::string &file);

//===--- importance matrices ------------------------------------------------------------------------------------===//

// The importance of columns as llama.cpp's imatrix writes it: the mean squares of what a matrix multiplies, over a
// text. The table has a number for every column, by the names of matrices in GGUF; for experts, a number for every
// column of each.
using ImportanceTable = std::map<std::string, std::vector<float>>;

// Whether a file is an importance matrix, by its first bytes, which no text has.
bool isImportanceFile(const std::string &path);

// Reads GGUF files of the type imatrix, and the older format without a magic number. None after errors.
std::optional<ImportanceTable> readImportance(const std::string &path, Diagnostics &diagnostics);

// The numbers of a matrix's columns; empty if the table has none. `weight`: the symbol in IR of the matrix, or of its
// transpose.
std::vector<float> lookupImportance(const ImportanceTable &table, const std::string &weight, int64_t columns,
                                    bool isTransposed);

}  // namespace talc
