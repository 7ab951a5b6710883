// SPDX-License-Identifier: Apache-2.0
// Forms of output: tables in Markdown that are also aligned as plain text, numbers in them, and records for other
// programs as csv, json, jsonl or sql, as llama-bench prints them.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace talc::bench {

struct Column {
  std::string title;
  bool right = false;
};

class Table {
public:
  explicit Table(std::vector<Column> columns) : columns(std::move(columns)) {}
  void add(std::vector<std::string> cells) { rows.push_back(std::move(cells)); }
  std::string markdown() const;

private:
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

std::string formatBytes(double bytes);  // "622.27 MiB", as llama-bench has it
std::string formatCount(double count);  // "163.04 M"
// A time below the resolution of the clock has no rate and no share: "-".
std::string formatShare(double share);                  // "73 %"
std::string formatRate(double amount, double seconds);  // billions per second: "140.7"
std::string formatSeconds(double seconds);              // "12.3 us"

// csv prints the names of the first row, then every row's values in quotes; json one array; jsonl an object per line;
// sql statements that create the table if it does not exist, and fill it. csv and sql leave out lists.
std::string formatRecords(const nlohmann::ordered_json &rows, const std::string &format, const char *table);

// Prints an object with indentation. Names may hold any bytes.
std::string formatJson(const nlohmann::ordered_json &value);

}  // namespace talc::bench
