// SPDX-License-Identifier: Apache-2.0
// Reads untrusted JSON: errors with their position instead of exceptions, no duplicate keys, limited depth.
#pragma once

#include "frontends/Diagnostics.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace talc {

// Parses `text`. `file` and `code` are for the error. NaN, Infinity and -Infinity are numbers, as in Python: readers
// find them out of range.
std::optional<nlohmann::json> parseJson(std::string_view text, const std::string &file, ImportError code,
                                        Diagnostics &diagnostics);
// Parses an object.
std::optional<nlohmann::json> parseJsonObject(std::string_view text, const std::string &file, ImportError code,
                                              Diagnostics &diagnostics);

// Returns what is wrong with a text by these rules, or an empty text. For readers of other kinds of trees.
std::string jsonProblem(std::string_view text);

// A value as JSON text, shortened.
std::string jsonText(const nlohmann::json &value);

// The error message of a parser that stopped `position` bytes into `text`.
std::string jsonErrorText(std::string_view text, size_t position);

}  // namespace talc
