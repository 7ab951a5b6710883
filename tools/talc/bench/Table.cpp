// SPDX-License-Identifier: Apache-2.0
// Pads cells to the width of their column, counting characters and not bytes. Records quote every text, so that commas,
// quotes and line ends in names do no harm.
#include "tools/talc/bench/Table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace talc::bench {

static size_t width(const std::string &text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
}

std::string Table::markdown() const {
  std::vector<size_t> widths;
  for (size_t i = 0; i < columns.size(); ++i) {
    widths.push_back(width(columns[i].title));
    for (const auto &row : rows)
      widths[i] = std::max(widths[i], width(row[i]));
  }
  auto line = [&](auto cellOf) {
    std::string text = "|";
    for (size_t i = 0; i < columns.size(); ++i) {
      std::string cell = cellOf(i), space(widths[i] - std::min(widths[i], width(cell)), ' ');
      text += " " + (columns[i].right ? space + cell : cell + space) + " |";
    }
    return text + "\n";
  };
  std::string text = line([&](size_t i) { return columns[i].title; });
  text += line([&](size_t i) {
    std::string dashes(widths[i], '-');
    if (columns[i].right)
      dashes.back() = ':';
    return dashes;
  });
  for (const auto &row : rows)
    text += line([&](size_t i) { return row[i]; });
  return text;
}

std::string formatBytes(double bytes) {
  if (bytes >= 1024.0 * 1024 * 1024)
    return fmt::format("{:.2f} GiB", bytes / (1024.0 * 1024 * 1024));
  if (bytes >= 1024.0 * 1024)
    return fmt::format("{:.2f} MiB", bytes / (1024.0 * 1024));
  return fmt::format("{:.2f} KiB", bytes / 1024);
}

std::string formatCount(double count) {
  if (count >= 1e9)
    return fmt::format("{:.2f} G", count / 1e9);
  if (count >= 1e6)
    return fmt::format("{:.2f} M", count / 1e6);
  return fmt::format("{:.2f} K", count / 1e3);
}

std::string formatShare(double share) {
  return std::isfinite(share) ? fmt::format("{:.0f} %", 100 * share) : "-";
}

std::string formatRate(double amount, double seconds) {
  return seconds > 0 ? fmt::format("{:.1f}", 1e-9 * amount / seconds) : "-";
}

std::string formatSeconds(double seconds) {
  if (seconds >= 1)
    return fmt::format("{:.3f} s", seconds);
  if (seconds >= 1e-3)
    return fmt::format("{:.2f} ms", 1e3 * seconds);
  if (seconds >= 1e-6)
    return fmt::format("{:.1f} us", 1e6 * seconds);
  return fmt::format("{:.0f} ns", 1e9 * seconds);
}

using Json = nlohmann::ordered_json;

static std::string dump(const Json &value, int indentation) {
  return value.dump(indentation, ' ', false, Json::error_handler_t::replace);
}

// Between two quotes, of which those inside are doubled.
static std::string quote(const Json &value, char mark) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump(), quoted(1, mark);
  for (char c : text)
    quoted += c == mark ? std::string(2, mark) : std::string(1, c);
  return quoted + mark;
}

// Joins a text for each field of a row that is not a list by commas.
template <typename Text> static std::string listFields(const Json &row, Text text) {
  std::string list;
  for (const auto &[name, value] : row.items())
    if (!value.is_array())
      list += (list.empty() ? "" : ",") + text(name, value);
  return list;
}

static std::string getName(const std::string &name, const Json &) {
  return name;
}

static std::string formatCsv(const Json &rows) {
  std::string text;
  for (const Json &row : rows) {
    std::string values = listFields(row, [](const std::string &, const Json &value) { return quote(value, '"'); });
    text += (text.empty() ? listFields(row, getName) + "\n" : "") + values + "\n";
  }
  return text;
}

static std::string formatSql(const Json &rows, const std::string &table) {
  if (rows.empty())
    return "";
  auto column = [](const std::string &name, const Json &value) {
    const char *type = value.is_string() ? " TEXT" : value.is_number_float() ? " REAL" : " INTEGER";
    return "\n  \"" + name + "\"" + type;
  };
  auto literal = [](const std::string &, const Json &value) {
    return value.is_string() ? quote(value, '\'') : value.dump();
  };
  auto quotedName = [](const std::string &name, const Json &) { return "\"" + name + "\""; };
  std::string text = "CREATE TABLE IF NOT EXISTS " + table + " (" + listFields(rows.front(), column) + "\n);\n\n";
  for (const Json &row : rows)
    text +=
        "INSERT INTO " + table + " (" + listFields(row, quotedName) + ") VALUES (" + listFields(row, literal) + ");\n";
  return text;
}

std::string formatJson(const Json &value) {
  return dump(value, 2) + "\n";
}

std::string formatRecords(const Json &rows, const std::string &format, const char *table) {
  if (format == "csv")
    return formatCsv(rows);
  if (format == "sql")
    return formatSql(rows, table);
  if (format == "json")
    return formatJson(rows);
  std::string text;
  for (const Json &row : rows)
    text += dump(row, -1) + "\n";
  return text;
}

}  // namespace talc::bench
