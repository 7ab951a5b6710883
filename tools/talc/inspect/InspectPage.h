// SPDX-License-Identifier: Apache-2.0
// The data of `talc compile --inspect` and the forms in which talc writes it: a page, a picture of its roofline, or the
// data alone. docs/inspect.md describes the schema. Pages and pictures are files that need nothing but a browser.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

namespace talc::tools {

class PassRecorder;

// Facts of the command line and the clock.
struct Compilation {
  std::string model;    // as the user named it
  std::string targets;  // x86-64-v3, ...
  std::string weights;  // --weights
  std::string product;  // --emit
  double seconds = 0;   // the whole compilation
};

// Describes the model, what was compiled, every pass and what it changed.
nlohmann::ordered_json describeCompilation(const PassRecorder &recorder, const Compilation &compilation);

std::string renderPage(const nlohmann::ordered_json &data, const std::string &title);

// An SVG file whose script draws data["roofline"].
std::string renderPicture(const nlohmann::ordered_json &data);

std::string renderJson(const nlohmann::ordered_json &data);

}  // namespace talc::tools
