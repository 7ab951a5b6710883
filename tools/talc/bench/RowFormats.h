// SPDX-License-Identifier: Apache-2.0
// Comma-separated values from flat JSON objects.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace talc::bench {

// The names of the first row, then every row's values in quotes. Lists are left out, as llama-bench does.
std::string formatCsv(const nlohmann::ordered_json &rows);

}  // namespace talc::bench
