// SPDX-License-Identifier: Apache-2.0
// Tables in Markdown that are also aligned to be read as plain text, and the forms of numbers in them.
#pragma once

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
// What took no time that the clock could tell has no rate, and no share: "-".
std::string formatShare(double share);                  // "73 %"
std::string formatRate(double amount, double seconds);  // billions per second: "140.7"
std::string formatSeconds(double seconds);              // "12.3 us"

}  // namespace talc::bench
