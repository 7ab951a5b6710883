// SPDX-License-Identifier: Apache-2.0
// Reads a line of a JSON Lines file: a text, or an object with a text.
#pragma once

#include "runtime/Status.h"

#include <optional>
#include <string>
#include <string_view>

namespace talc::program {

// "a text", or {"text": "a text", "pair": "the second of a pair"}; `prompt` and `input` mean `text`, too. Other keys
// are ignored.
struct JsonLine {
  std::string text;
  std::optional<std::string> pair = {};
};

// Fails with TALC_ERROR_TEXT. `place` is the name of the line in messages.
Status readJsonLine(std::string_view line, const std::string &place, JsonLine &result);

// Whether the name of a file says that its lines are JSON.
bool isJsonLinesName(std::string_view path);

}  // namespace talc::program
