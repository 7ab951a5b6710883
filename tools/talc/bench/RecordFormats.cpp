// SPDX-License-Identifier: Apache-2.0
// Quotes every text, so that commas, quotes and line ends in names do no harm.
#include "tools/talc/bench/RecordFormats.h"

namespace talc::bench {

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

// One text for each field of a row that is no list, with commas in between.
template <typename Text> static std::string listFields(const Json &row, Text text) {
  std::string list;
  for (const auto &[name, value] : row.items())
    if (!value.is_array())
      list += (list.empty() ? "" : ",") + text(name, value);
  return list;
}

static std::string nameOf(const std::string &name, const Json &) {
  return name;
}

static std::string formatCsv(const Json &rows) {
  std::string text;
  for (const Json &row : rows) {
    std::string values = listFields(row, [](const std::string &, const Json &value) { return quote(value, '"'); });
    text += (text.empty() ? listFields(row, nameOf) + "\n" : "") + values + "\n";
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
