// SPDX-License-Identifier: Apache-2.0
// Pieces of HTML that the parts of the page share.
#pragma once

#include <string>
#include <vector>

namespace talc::tools {

// Text that may stand in HTML and in its attributes.
std::string escapeHtml(const std::string &text);

// <a href="target">text</a>, both escaped.
std::string link(const std::string &target, const std::string &text);

// A table; cells are HTML. Columns whose title begins with '>' are aligned to the right. `ids`: of the rows, or empty.
std::string htmlTable(const std::vector<std::string> &titles, const std::vector<std::vector<std::string>> &rows,
                      const std::vector<std::string> &ids = {});

}  // namespace talc::tools
