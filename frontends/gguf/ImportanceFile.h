// SPDX-License-Identifier: Apache-2.0
// The importance of features as llama.cpp's imatrix writes it: of what a matrix multiplies, the mean squares over a
// text.
#pragma once

#include "frontends/Diagnostics.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace talc {

// By the names that GGUF has for matrices: a number for every column, of experts for every column of each.
using ImportanceTable = std::map<std::string, std::vector<float>>;

// Whether a file is one of these by its first bytes, which no text begins with.
bool isImportanceFile(const std::string &path);

// GGUF files of the type imatrix, and the older ones without a magic number. Nothing if there were errors.
std::optional<ImportanceTable> readImportance(const std::string &path, Diagnostics &diagnostics);

// The numbers of a weight, by the name that its family has for it; empty: none.
std::vector<float> importanceOf(const ImportanceTable &table, const std::string &weight, int64_t columns);

}  // namespace talc
