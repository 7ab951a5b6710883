// SPDX-License-Identifier: Apache-2.0
// Writes text, links and tables.
#include "tools/talc/inspect/Html.h"

#include <fmt/format.h>

namespace talc::tools {

std::string escapeHtml(const std::string &text) {
  std::string escaped;
  for (char c : text)
    switch (c) {
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '&':
      escaped += "&amp;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      escaped += c;
    }
  return escaped;
}

std::string link(const std::string &target, const std::string &text) {
  return fmt::format("<a href=\"{}\">{}</a>", escapeHtml(target), escapeHtml(text));
}

std::string htmlTable(const std::vector<std::string> &titles, const std::vector<std::vector<std::string>> &rows,
                      const std::vector<std::string> &ids) {
  auto isRight = [&](size_t column) { return titles[column].front() == '>'; };
  std::string html = "<div class=\"wide\"><table><thead><tr>";
  for (size_t i = 0; i < titles.size(); ++i)
    html += fmt::format("<th{}>{}</th>", isRight(i) ? " class=\"right\"" : "", titles[i].substr(isRight(i) ? 1 : 0));
  html += "</tr></thead><tbody>\n";
  for (size_t row = 0; row < rows.size(); ++row) {
    html += ids.empty() ? "<tr>" : fmt::format("<tr id=\"{}\">", escapeHtml(ids[row]));
    for (size_t i = 0; i < rows[row].size(); ++i)
      html += fmt::format("<td{}>{}</td>", isRight(i) ? " class=\"right\"" : "", rows[row][i]);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

}  // namespace talc::tools
