// SPDX-License-Identifier: Apache-2.0
// Results for other programs: flat JSON objects as csv, json, jsonl or sql, as llama-bench has them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace talc::bench {

// csv: the names of the first row, then every row's values in quotes; json: one array; jsonl: an object on each line;
// sql: statements that make the table, unless there is one, and fill it. Lists are left out of csv and sql.
std::string formatRecords(const nlohmann::ordered_json &rows, const std::string &format, const char *table);

// An object that is printed for people and programs: with indentation, and whatever bytes names hold.
std::string formatJson(const nlohmann::ordered_json &value);

}  // namespace talc::bench
