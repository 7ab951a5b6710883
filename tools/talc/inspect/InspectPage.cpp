// SPDX-License-Identifier: Apache-2.0
// Puts data and scripts into the templates of page/. The scripts do all the drawing.
#include "tools/talc/inspect/InspectPage.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

namespace talc::tools {

using Json = nlohmann::ordered_json;

static const char *const pageTemplate =
#include "tools/talc/inspect/page.html.inc"
    ;
static const char *const pictureTemplate =
#include "tools/talc/inspect/picture.svg.inc"
    ;
static const char *const pageStyle =
#include "tools/talc/inspect/page.css.inc"
    ;
static const char *const pictureStyle =
#include "tools/talc/inspect/picture.css.inc"
    ;
static const char *const pageScript =
#include "tools/talc/inspect/page.js.inc"
    ;
static const char *const pictureScript =
#include "tools/talc/inspect/picture.js.inc"
    ;

std::string renderJson(const Json &data) {
  return data.dump(-1, ' ', /*ensure_ascii=*/true, Json::error_handler_t::replace);
}

// Text that neither ends the element or the attribute that it stands in nor begins another one, in HTML and in SVG.
static std::string escapeMarkup(llvm::StringRef text, llvm::ArrayRef<std::pair<char, llvm::StringRef>> escapes) {
  std::string escaped;
  for (char c : text) {
    auto escape = llvm::find_if(escapes, [&](const auto &escape) { return escape.first == c; });
    escaped += escape == escapes.end() ? std::string(1, c) : escape->second.str();
  }
  return escaped;
}

static std::string escapeText(llvm::StringRef text) {
  return escapeMarkup(text, {{'<', "&lt;"}, {'>', "&gt;"}, {'&', "&amp;"}, {'"', "&quot;"}});
}

static std::string escapeData(const Json &data) {
  return escapeMarkup(renderJson(data), {{'<', "\\u003c"}, {'>', "\\u003e"}, {'&', "\\u0026"}});
}

// The template with @NAME@ replaced. Replacements are not searched again.
static std::string fill(llvm::StringRef text, llvm::ArrayRef<std::pair<llvm::StringRef, std::string>> parts) {
  std::string filled;
  while (!text.empty()) {
    auto part = llvm::find_if(parts, [&](const auto &part) { return text.starts_with(part.first); });
    filled += part == parts.end() ? text.substr(0, 1).str() : part->second;
    text = text.drop_front(part == parts.end() ? 1 : part->first.size());
  }
  return filled;
}

std::string renderPage(const Json &data, const std::string &title) {
  return fill(
      pageTemplate,
      {{"@TITLE@", escapeText(title)}, {"@STYLE@", pageStyle}, {"@DATA@", escapeData(data)}, {"@SCRIPT@", pageScript}});
}

std::string renderPicture(const Json &data) {
  return fill(pictureTemplate, {{"@STYLE@", pictureStyle}, {"@DATA@", escapeData(data)}, {"@SCRIPT@", pictureScript}});
}

}  // namespace talc::tools
