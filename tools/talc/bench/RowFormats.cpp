// SPDX-License-Identifier: Apache-2.0
// Quotes every value, so that commas and quotes in names do no harm.
#include "tools/talc/bench/Csv.h"

namespace talc::bench {

using Json = nlohmann::ordered_json;

static std::string quote(const Json &value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump(), quoted = "\"";
  for (char c : text)
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

std::string formatCsv(const Json &rows) {
  std::string text;
  for (const Json &row : rows) {
    std::string names, values;
    for (const auto &[name, value] : row.items()) {
      if (value.is_array())
        continue;
      names += (names.empty() ? "" : ",") + name;
      values += (values.empty() ? "" : ",") + quote(value);
    }
    text += (text.empty() ? names + "\n" : "") + values + "\n";
  }
  return text;
}

}  // namespace talc::bench
