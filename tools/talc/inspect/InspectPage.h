// SPDX-License-Identifier: Apache-2.0
// The forms in which talc writes the data that docs/inspect.md describes: a page, a picture of its roofline, or the
// data alone. Pages and pictures are files that need nothing but a browser.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace talc::tools {

std::string renderPage(const nlohmann::ordered_json &data, const std::string &title);

// An SVG file whose script draws data["roofline"].
std::string renderPicture(const nlohmann::ordered_json &data);

std::string renderJson(const nlohmann::ordered_json &data);

}  // namespace talc::tools
